import type { Handler } from '../context.ts';
import { listEvents } from '../event-reads.ts';

export const listDnsEvents: Handler<'listDnsEvents'> = (context) => listEvents('dns', context);
