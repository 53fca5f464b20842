import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listServices: Handler<'listServices'> = (context) => pooledList(context, 'listServices');
