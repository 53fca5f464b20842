/** Builds nodes and edges with the fields that a test sets. */
import type { Edge, Node } from '../../../src/console/pages/topology/arrange.ts';

export const node = (ip: string, kind: Node['kind'], degree = 1): Node => ({
  id: ip,
  ip,
  label: ip,
  kind,
  degree,
  bytes: 0,
});
export const edge = (source: string, target: string, bytes: number): Edge => ({
  source,
  target,
  bytes,
  connections: 1,
  ports: [],
  protocols: [],
  first_seen: '2026-01-01T00:00:00.000Z',
  last_seen: '2026-01-01T00:00:00.000Z',
});
