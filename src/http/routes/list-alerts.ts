import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAlerts: Handler<'listAlerts'> = (context) =>
  listReply(context, context.services.queries.listAlerts);
