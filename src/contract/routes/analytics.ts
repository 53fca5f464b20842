import { success } from '../envelopes.ts';
import { windowQuery } from '../parameters.ts';
import { json, type Route, readers } from './route.ts';

/** What is going on, in figures that cost the same however many events there are. */
export const analyticsRoutes = {
  getDashboard: {
    method: 'GET',
    path: '/api/v1/analytics/dashboard',
    summary: 'What there was of a time up to now, in figures',
    tag: 'analytics',
    access: readers,
    query: windowQuery,
    responses: { 200: json(success('dashboard')) },
  },
  getTrends: {
    method: 'GET',
    path: '/api/v1/analytics/trends',
    summary: 'How the figures change, and what is out of the ordinary',
    tag: 'analytics',
    access: readers,
    query: windowQuery,
    responses: { 200: json(success('trends')) },
  },
  getRiskScore: {
    method: 'GET',
    path: '/api/v1/analytics/risk-score',
    summary: 'How much is wrong, where, and why that is thought',
    tag: 'analytics',
    access: readers,
    responses: { 200: json(success('risk_score')) },
  },
  getTriageModel: {
    method: 'GET',
    path: '/api/v1/analytics/triage',
    summary: 'What triages alerts: what it looks at, what it learned, and how often it was right',
    tag: 'analytics',
    access: readers,
    responses: { 200: json(success('triage_model')) },
  },
} as const satisfies Record<string, Route>;
