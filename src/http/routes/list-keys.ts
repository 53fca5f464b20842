import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listKeys: Handler<'listKeys'> = (context) => listReply(context, context.services.listKeys);
