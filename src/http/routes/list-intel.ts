import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listIntel: Handler<'listIntel'> = (context) =>
  listReply(context, (query, options) => context.services.intel.list(query, options));
