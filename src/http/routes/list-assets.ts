import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAssets: Handler<'listAssets'> = (context) =>
  listReply(context, context.services.queries.listAssets);
