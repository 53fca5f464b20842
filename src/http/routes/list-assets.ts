import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listAssets: Handler<'listAssets'> = (context) => pooledList(context, 'listAssets');
