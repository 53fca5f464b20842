import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { scanReply } from '../scan-reads.ts';

export const getScanStatus: Handler<'getScanStatus'> = ({ services }) => {
  const scan = services.scans.current();
  if (scan === undefined) throw new ServiceError('NOT_FOUND', 'there has been no scan yet');
  return scanReply(scan);
};
