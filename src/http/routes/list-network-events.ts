import type { Handler } from '../context.ts';
import { listEvents } from '../event-reads.ts';

export const listNetworkEvents: Handler<'listNetworkEvents'> = (context) => listEvents('network', context);
