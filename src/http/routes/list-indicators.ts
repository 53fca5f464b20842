import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listIndicators: Handler<'listIndicators'> = (context) =>
  listReply(context, (query, options) =>
    context.services.intel.indicators(context.params.intel_id, query, options),
  );
