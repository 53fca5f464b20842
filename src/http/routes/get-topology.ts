import { onlyId } from '../../contract/singleton.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getTopology: Handler<'getTopology'> = async ({ services, query, identity, signal }) => {
  const { depth, limit = limits.defaultTopologyNodes, group_by = 'host', ...rest } = query;
  if (depth !== undefined && rest.focus === undefined)
    throw invalidField('depth', 'needs a focus from which to count');
  const asked = { ...rest, group_by, depth: depth ?? 1, limit };
  return resource('topology', onlyId, await services.topology.ask(asked, identity.principal.id, signal));
};
