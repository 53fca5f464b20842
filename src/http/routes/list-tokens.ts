import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listTokens: Handler<'listTokens'> = (context) => pooledList(context, 'listTokens');
