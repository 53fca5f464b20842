import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

export const listAlerts: Handler<'listAlerts'> = (context) => pooledList(context, 'listAlerts');
