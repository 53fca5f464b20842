import type { Handler } from '../context.ts';
import { getEventProof } from '../event-proof.ts';

export const getNetworkEventProof: Handler<'getNetworkEventProof'> = (context) =>
  getEventProof('network', context);

export const getDnsEventProof: Handler<'getDnsEventProof'> = (context) => getEventProof('dns', context);
