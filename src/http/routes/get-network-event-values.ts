import type { Handler } from '../context.ts';
import { eventValues } from '../event-values.ts';

export const getNetworkEventValues: Handler<'getNetworkEventValues'> = (context) =>
  eventValues('network', context);
