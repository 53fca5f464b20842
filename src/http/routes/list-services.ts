import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listServices: Handler<'listServices'> = (context) =>
  listReply(context, context.services.queries.listServices);
