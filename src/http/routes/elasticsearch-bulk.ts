import type { Handler } from '../context.ts';
import { takeBulk } from '../shippers/take-bulk.ts';

export const elasticsearchBulk: Handler<'elasticsearchBulk'> = (context) => takeBulk(context, 'candor');
