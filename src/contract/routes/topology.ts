import { success } from '../envelopes.ts';
import { topologyQuery, topologyStreamQuery } from '../parameters.ts';
import { json, none, type RoutesWithout, readers, sharing } from './route.ts';

/** The graph of communication between hosts and networks. */
export const topologyRoutes = sharing({ tag: 'topology', access: readers, method: 'GET' }, {
  getTopology: {
    path: '/api/v1/topology',
    summary: 'Get the communication graph',
    query: topologyQuery,
    responses: { 200: json(success('topology')) },
    errors: ['NOT_FOUND'],
  },
  streamTopology: {
    path: '/api/v1/topology/stream',
    summary: 'Stream updates of the communication graph over a WebSocket',
    query: topologyStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'topology' },
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
