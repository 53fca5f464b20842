import type { StoredScan } from '../store/store.ts';
import { accepted, type Reply, resource } from './reply.ts';

export function scanReply({ id, ...attributes }: StoredScan): Reply {
  return resource('scan', id, attributes);
}

export function scanAccepted({ id, ...attributes }: StoredScan): Reply {
  return accepted('scan', id, attributes, `/api/v1/discovery/scan/${id}`);
}
