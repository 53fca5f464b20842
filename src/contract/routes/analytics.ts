import { success } from '../envelopes.ts';
import { windowQuery } from '../parameters.ts';
import { json, type Route, readers } from './route.ts';

/** Statistics whose cost does not depend on the number of events. */
export const analyticsRoutes = {
  getDashboard: {
    method: 'GET',
    path: '/api/v1/analytics/dashboard',
    summary: 'Get statistics for a recent time window',
    tag: 'analytics',
    access: readers,
    query: windowQuery,
    responses: { 200: json(success('dashboard')) },
  },
  getTrends: {
    method: 'GET',
    path: '/api/v1/analytics/trends',
    summary: 'Get trends and anomalies for a recent time window',
    tag: 'analytics',
    access: readers,
    query: windowQuery,
    responses: { 200: json(success('trends')) },
  },
  getRiskScore: {
    method: 'GET',
    path: '/api/v1/analytics/risk-score',
    summary: 'Get the risk score with the assets and alerts that contribute to it',
    tag: 'analytics',
    access: readers,
    responses: { 200: json(success('risk_score')) },
  },
  getTriageModel: {
    method: 'GET',
    path: '/api/v1/analytics/triage',
    summary: 'Get the triage model: its features, learned weights and accuracy',
    tag: 'analytics',
    access: readers,
    responses: { 200: json(success('triage_model')) },
  },
} as const satisfies Record<string, Route>;
