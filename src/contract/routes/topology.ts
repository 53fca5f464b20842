import { success } from '../envelopes.ts';
import { topologyQuery, topologyStreamQuery } from '../parameters.ts';
import { json, none, type Route, readers } from './route.ts';

/** Who talks to whom. */
export const topologyRoutes = {
  getTopology: {
    method: 'GET',
    path: '/api/v1/topology',
    summary: 'The graph of who talks to whom',
    tag: 'topology',
    access: readers,
    query: topologyQuery,
    responses: { 200: json(success('topology')) },
    errors: ['NOT_FOUND'],
  },
  streamTopology: {
    method: 'GET',
    path: '/api/v1/topology/stream',
    summary: 'WebSocket stream of changes of the graph',
    tag: 'topology',
    access: readers,
    query: topologyStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'topology' },
  },
} as const satisfies Record<string, Route>;
