import type { Handler } from '../context.ts';
import { scanAccepted } from '../scan-reads.ts';

export const startScan: Handler<'startScan'> = async ({ services, body, identity }) =>
  scanAccepted(await services.scans.start(body, identity.principal.name));
