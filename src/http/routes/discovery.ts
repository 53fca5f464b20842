import type { discoveryRoutes } from '../../contract/routes/discovery.ts';
import { onlyId } from '../../contract/singleton.ts';
import type { StoredScan } from '../../store/store.ts';
import type { Handlers } from '../context.ts';
import { pooledList } from '../list-reply.ts';
import { found } from '../preconditions.ts';
import { accepted, type Reply, resource } from '../reply.ts';

export const discoveryHandlers = {
  startScan: async ({ services, body, identity }) =>
    scanAccepted(await services.scans.start(body, identity.principal.name)),

  getScanStatus({ services }) {
    const scan = services.scans.current();
    return scan === undefined ? resource('scan', onlyId, { status: 'idle' }) : scanReply(scan);
  },

  listScans: (context) => pooledList(context, 'listScans'),

  getScan({ services, params }) {
    const id = params.scan_id.toLowerCase();
    return scanReply({ id, ...found('scan', id, services.reader.getScan(id)) });
  },

  cancelScan: async ({ services, params }) => scanReply(await services.scans.cancel(params.scan_id.toLowerCase())),
} satisfies Handlers<typeof discoveryRoutes>;

function scanReply({ id, ...attributes }: StoredScan): Reply {
  return resource('scan', id, attributes);
}

function scanAccepted({ id, ...attributes }: StoredScan): Reply {
  return accepted('scan', id, attributes, `/api/v1/discovery/scan/${id}`);
}
