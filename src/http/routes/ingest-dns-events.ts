import type { Handler } from '../context.ts';
import { takeBody } from '../take-body.ts';

export const ingestDnsEvents: Handler<'ingestDnsEvents'> = (context) =>
  takeBody(context, { ...context.query, table: 'dns' });
