import { onlyId } from '../../contract/singleton.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getTopology: Handler<'getTopology'> = async ({ services, query, signal }) => {
  const { depth, limit = limits.defaultTopologyNodes, group_by = 'host', ...rest } = query;
  if (depth !== undefined && rest.focus === undefined)
    throw invalidField('depth', 'needs a focus from which to count');
  const graph = services.queries.topology({ ...rest, group_by, depth: depth ?? 1, limit }, signal);
  return resource('topology', onlyId, await countingRefusals(services.metrics, queryLimits, graph));
};
