import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listPrincipals: Handler<'listPrincipals'> = (context) =>
  listReply(context, context.services.queries.listPrincipals);
