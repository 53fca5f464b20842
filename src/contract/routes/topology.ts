import { success } from '../envelopes.ts';
import { topologyQuery, topologyStreamQuery } from '../parameters.ts';
import { json, none, type Route, readers } from './route.ts';

/** The graph of communication between hosts and networks. */
export const topologyRoutes = {
  getTopology: {
    method: 'GET',
    path: '/api/v1/topology',
    summary: 'Get the communication graph',
    tag: 'topology',
    access: readers,
    query: topologyQuery,
    responses: { 200: json(success('topology')) },
    errors: ['NOT_FOUND'],
  },
  streamTopology: {
    method: 'GET',
    path: '/api/v1/topology/stream',
    summary: 'Stream updates of the communication graph over a WebSocket',
    tag: 'topology',
    access: readers,
    query: topologyStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'topology' },
  },
} as const satisfies Record<string, Route>;
