import type { Handler } from '../context.ts';
import { getEvent } from '../event-reads.ts';

export const getNetworkEvent: Handler<'getNetworkEvent'> = ({ services, params }) =>
  getEvent('network', params.event_id, services);
