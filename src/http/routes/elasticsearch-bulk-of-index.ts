import type { Handler } from '../context.ts';
import { takeBulk } from '../shippers/take-bulk.ts';

export const elasticsearchBulkOfIndex: Handler<'elasticsearchBulkOfIndex'> = (context) =>
  takeBulk(context, context.params.index);
