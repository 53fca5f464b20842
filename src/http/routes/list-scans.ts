import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listScans: Handler<'listScans'> = (context) =>
  listReply(context, context.services.queries.listScans);
