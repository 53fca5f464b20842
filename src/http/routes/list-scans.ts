import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listScans: Handler<'listScans'> = (context) => pooledList(context, 'listScans');
