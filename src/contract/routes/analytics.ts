import { success } from '../envelopes.ts';
import { topologyQuery, topologyStreamQuery, windowQuery } from '../parameters.ts';
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

/** Statistics whose cost does not depend on the number of events. */
export const analyticsRoutes = sharing({ tag: 'analytics', access: readers, method: 'GET' }, {
  getDashboard: {
    path: '/api/v1/analytics/dashboard',
    summary: 'Get statistics for a recent time window',
    query: windowQuery,
    responses: { 200: json(success('dashboard')) },
  },
  getTrends: {
    path: '/api/v1/analytics/trends',
    summary: 'Get trends and anomalies for a recent time window',
    query: windowQuery,
    responses: { 200: json(success('trends')) },
  },
  getRiskScore: {
    path: '/api/v1/analytics/risk-score',
    summary: 'Get the risk score with the assets and alerts that contribute to it',
    responses: { 200: json(success('risk_score')) },
  },
  getTriageModel: {
    path: '/api/v1/analytics/triage',
    summary: 'Get the triage model: its features, learned weights and accuracy',
    responses: { 200: json(success('triage_model')) },
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
