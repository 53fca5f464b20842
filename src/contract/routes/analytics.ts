import { topologyQuery, topologyStreamQuery, windowQuery } from '../parameters.ts';
import { get, none, one, readers, sharing } from './route.ts';

/** The graph of communication between hosts and networks. */
export const topologyRoutes = sharing({ tag: 'topology', access: readers })({
  getTopology: get('/api/v1/topology', 'Get the communication graph', {
    query: topologyQuery,
    responses: one('topology'),
    errors: ['NOT_FOUND'],
  }),
  streamTopology: get('/api/v1/topology/stream', 'Stream updates of the communication graph over a WebSocket', {
    query: topologyStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'topology' },
  }),
});

/** Statistics whose cost does not depend on the number of events. */
export const analyticsRoutes = sharing({ tag: 'analytics', access: readers })({
  getDashboard: get('/api/v1/analytics/dashboard', 'Get statistics for a recent time window', {
    query: windowQuery,
    responses: one('dashboard'),
  }),
  getTrends: get('/api/v1/analytics/trends', 'Get trends and anomalies for a recent time window', {
    query: windowQuery,
    responses: one('trends'),
  }),
  getRiskScore: get(
    '/api/v1/analytics/risk-score',
    'Get the risk score with the assets and alerts that contribute to it',
    { responses: one('risk_score') },
  ),
  getTriageModel: get('/api/v1/analytics/triage', 'Get the triage model: its features, learned weights and accuracy', {
    responses: one('triage_model'),
  }),
});
