import { onlyId } from '../../contract/singleton.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';
import { scanReply } from '../scan-reads.ts';

export const getScanStatus: Handler<'getScanStatus'> = ({ services }) => {
  const scan = services.scans.current();
  return scan === undefined ? resource('scan', onlyId, { status: 'idle' }) : scanReply(scan);
};
