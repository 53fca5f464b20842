import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listIntel: Handler<'listIntel'> = (context) =>
  listReply(context, (query, signal) => context.services.intel.list(query, signal));
