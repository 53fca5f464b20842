import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listSilences: Handler<'listSilences'> = (context) => pooledList(context, 'listSilences');
