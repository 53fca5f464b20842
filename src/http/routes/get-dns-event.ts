import type { Handler } from '../context.ts';
import { getEvent } from '../event-reads.ts';

export const getDnsEvent: Handler<'getDnsEvent'> = ({ services, params }) =>
  getEvent('dns', params.event_id, services);
