import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listTokens: Handler<'listTokens'> = (context) =>
  listReply(context, context.services.queries.listTokens);
