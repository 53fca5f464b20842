import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { scanReply } from '../scan-reads.ts';

export const getScan: Handler<'getScan'> = ({ services, params }) => {
  const id = params.scan_id.toLowerCase();
  const scan = services.reader.getScan(id);
  if (scan === undefined) throw new ServiceError('NOT_FOUND', `there is no scan ${id}`);
  return scanReply({ id, ...scan });
};
