import type { Handler } from '../context.ts';
import { takeBody } from '../take-body.ts';

export const ingestNetworkEvents: Handler<'ingestNetworkEvents'> = (context) =>
  takeBody(context, { ...context.query, table: 'network' });
