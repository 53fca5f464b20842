import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listPrincipals: Handler<'listPrincipals'> = (context) => pooledList(context, 'listPrincipals');
