import type { topologyRoutes } from '../../contract/routes/topology.ts';
import { onlyId } from '../../contract/singleton.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Handlers } from '../context.ts';
import { resource } from '../reply.ts';

export const topologyHandlers = {
  async getTopology({ services, query, identity, signal }) {
    const { depth, limit = limits.defaultTopologyNodes, group_by = 'host', ...rest } = query;
    if (depth !== undefined && rest.focus === undefined) throw invalidField('depth', 'requires a focus');
    const asked = { ...rest, group_by, depth: depth ?? 1, limit };
    return resource('topology', onlyId, await services.topology.ask(asked, identity.principal.id, signal));
  },
} satisfies Handlers<typeof topologyRoutes>;
