import type { Handler } from '../context.ts';
import { scanReply } from '../scan-reads.ts';

export const cancelScan: Handler<'cancelScan'> = async ({ services, params }) =>
  scanReply(await services.scans.cancel(params.scan_id.toLowerCase()));
