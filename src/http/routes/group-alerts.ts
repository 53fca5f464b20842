import { listFilterOf } from '../../contract/query.ts';
import { limits } from '../../limits.ts';
import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { data } from '../reply.ts';

export const groupAlerts: Handler<'groupAlerts'> = async (context) => {
  const { services, query } = context;
  const { by, limit = limits.defaultPerPage, ...which } = query;
  const groups = services.queries.run(
    'groupAlerts',
    { by, limit, filter: listFilterOf(which) },
    askedBy(context),
  );
  const found = await countingRefusals(services.metrics, queryLimits, groups);
  if (!found.complete) services.metrics.limitReached('maxAlertGroups');
  return data(found);
};
