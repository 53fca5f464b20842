import {
  dnsEventHistogramQuery,
  dnsEventValuesQuery,
  networkEventHistogramQuery,
  networkEventValuesQuery,
} from '../count-parameters.ts';
import { dnsEventQuery, dnsEventStreamQuery, networkEventQuery, networkEventStreamQuery } from '../parameters.ts';
import type { eventTables } from '../vocabulary.ts';
import { analysts, get, none, one, page, readers, sharing } from './route.ts';

/** Returns the route of an event's proof, restricted to roles that may read both events and log entries. */
const eventProof = (table: (typeof eventTables)[number]) =>
  get(
    `/api/v1/events/${table}/:event_id/proof`,
    `Get an offline proof that a ${table} event is unchanged since the log covered it`,
    { access: analysts, responses: one('event_proof'), errors: ['UNAVAILABLE'] },
  );

/** Network and DNS events. */
export const eventsRoutes = sharing({ tag: 'events', access: readers })({
  listNetworkEvents: get('/api/v1/events/network', 'List network events', {
    query: networkEventQuery,
    responses: page('network_event'),
  }),
  getNetworkEventHistogram: get('/api/v1/events/network/histogram', 'Count network events over time by severity', {
    query: networkEventHistogramQuery,
    responses: one('histogram'),
  }),
  getNetworkEventValues: get(
    '/api/v1/events/network/values',
    'List the most frequent values of an attribute of network events',
    { query: networkEventValuesQuery, responses: one('value_counts') },
  ),
  streamNetworkEvents: get('/api/v1/events/network/stream', 'Stream network events over a WebSocket', {
    query: networkEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.network' },
  }),
  getNetworkEvent: get('/api/v1/events/network/:event_id', 'Get a network event', { responses: one('network_event') }),
  getNetworkEventProof: eventProof('network'),
  listDnsEvents: get('/api/v1/events/dns', 'List DNS events', { query: dnsEventQuery, responses: page('dns_event') }),
  getDnsEventHistogram: get('/api/v1/events/dns/histogram', 'Count DNS events over time by severity', {
    query: dnsEventHistogramQuery,
    responses: one('histogram'),
  }),
  getDnsEventValues: get('/api/v1/events/dns/values', 'List the most frequent values of an attribute of DNS events', {
    query: dnsEventValuesQuery,
    responses: one('value_counts'),
  }),
  streamDnsEvents: get('/api/v1/events/dns/stream', 'Stream DNS events over a WebSocket', {
    query: dnsEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.dns' },
  }),
  getDnsEvent: get('/api/v1/events/dns/:event_id', 'Get a DNS event', { responses: one('dns_event') }),
  getDnsEventProof: eventProof('dns'),
});
