import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listRules: Handler<'listRules'> = (context) =>
  listReply(context, async (query) => context.services.rules.list(query));
