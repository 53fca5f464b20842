import {
  dnsEventHistogramQuery,
  dnsEventValuesQuery,
  networkEventHistogramQuery,
  networkEventValuesQuery,
} from '../count-parameters.ts';
import { paginated, success } from '../envelopes.ts';
import { dnsEventQuery, dnsEventStreamQuery, networkEventQuery, networkEventStreamQuery } from '../parameters.ts';
import { parameters, uuid } from '../resources/fields.ts';
import type { eventTables } from '../vocabulary.ts';
import { analysts, json, list, none, type Route, type RoutesWithout, readers, sharing } from './route.ts';

const eventParams = parameters({ event_id: uuid('Identifier of the event.') });

/** Returns the route of an event's proof, restricted to roles that may read both events and log entries. */
const eventProof = (table: (typeof eventTables)[number]) =>
  ({
    method: 'GET',
    path: `/api/v1/events/${table}/:event_id/proof`,
    summary: `Get an offline proof that a ${table} event is unchanged since the log covered it`,
    access: analysts,
    params: eventParams,
    responses: { 200: json(success('event_proof')) },
    errors: ['NOT_FOUND', 'UNAVAILABLE'],
  }) as const satisfies Omit<Route, 'tag'>;

/** Network and DNS events. */
export const eventsRoutes = sharing({ tag: 'events', access: readers, method: 'GET' }, {
  listNetworkEvents: {
    path: '/api/v1/events/network',
    summary: 'List network events',
    query: networkEventQuery,
    responses: { 200: list(paginated('network_event')) },
  },
  getNetworkEventHistogram: {
    path: '/api/v1/events/network/histogram',
    summary: 'Count network events over time by severity',
    query: networkEventHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  getNetworkEventValues: {
    path: '/api/v1/events/network/values',
    summary: 'List the most frequent values of an attribute of network events',
    query: networkEventValuesQuery,
    responses: { 200: json(success('value_counts')) },
  },
  streamNetworkEvents: {
    path: '/api/v1/events/network/stream',
    summary: 'Stream network events over a WebSocket',
    query: networkEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.network' },
  },
  getNetworkEvent: {
    path: '/api/v1/events/network/:event_id',
    summary: 'Get a network event',
    params: eventParams,
    responses: { 200: json(success('network_event')) },
    errors: ['NOT_FOUND'],
  },
  getNetworkEventProof: eventProof('network'),
  listDnsEvents: {
    path: '/api/v1/events/dns',
    summary: 'List DNS events',
    query: dnsEventQuery,
    responses: { 200: list(paginated('dns_event')) },
  },
  getDnsEventHistogram: {
    path: '/api/v1/events/dns/histogram',
    summary: 'Count DNS events over time by severity',
    query: dnsEventHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  getDnsEventValues: {
    path: '/api/v1/events/dns/values',
    summary: 'List the most frequent values of an attribute of DNS events',
    query: dnsEventValuesQuery,
    responses: { 200: json(success('value_counts')) },
  },
  streamDnsEvents: {
    path: '/api/v1/events/dns/stream',
    summary: 'Stream DNS events over a WebSocket',
    query: dnsEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.dns' },
  },
  getDnsEvent: {
    path: '/api/v1/events/dns/:event_id',
    summary: 'Get a DNS event',
    params: eventParams,
    responses: { 200: json(success('dns_event')) },
    errors: ['NOT_FOUND'],
  },
  getDnsEventProof: eventProof('dns'),
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
