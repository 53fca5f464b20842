import { Type } from 'typebox';
import { paginated, success } from '../envelopes.ts';
import { dnsEventHistogramQuery, networkEventHistogramQuery } from '../histogram-parameters.ts';
import {
  dnsEventQuery,
  dnsEventStreamQuery,
  networkEventQuery,
  networkEventStreamQuery,
} from '../parameters.ts';
import { uuid } from '../resources/fields.ts';
import { dnsEventValuesQuery, networkEventValuesQuery } from '../value-parameters.ts';
import type { eventTables } from '../vocabulary.ts';
import { analysts, closed, json, list, none, type Route, readers } from './route.ts';

const eventParams = Type.Object({ event_id: uuid('Identifier of the event.') }, closed);

/** Restricted to roles that may read both events and log entries. */
const eventProof = (table: (typeof eventTables)[number]) =>
  ({
    method: 'GET',
    path: `/api/v1/events/${table}/:event_id/proof`,
    summary: `Get an offline proof that a ${table} event is unchanged since the log covered it`,
    tag: 'events',
    access: analysts,
    params: eventParams,
    responses: { 200: json(success('event_proof')) },
    errors: ['NOT_FOUND', 'UNAVAILABLE'],
  }) as const satisfies Route;

/** Network and DNS events. */
export const eventsRoutes = {
  listNetworkEvents: {
    method: 'GET',
    path: '/api/v1/events/network',
    summary: 'List network events',
    tag: 'events',
    access: readers,
    query: networkEventQuery,
    responses: { 200: list(paginated('network_event')) },
  },
  getNetworkEventHistogram: {
    method: 'GET',
    path: '/api/v1/events/network/histogram',
    summary: 'Count network events over time by severity',
    tag: 'events',
    access: readers,
    query: networkEventHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  getNetworkEventValues: {
    method: 'GET',
    path: '/api/v1/events/network/values',
    summary: 'List the most frequent values of an attribute of network events',
    tag: 'events',
    access: readers,
    query: networkEventValuesQuery,
    responses: { 200: json(success('value_counts')) },
  },
  streamNetworkEvents: {
    method: 'GET',
    path: '/api/v1/events/network/stream',
    summary: 'Stream network events over a WebSocket',
    tag: 'events',
    access: readers,
    query: networkEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.network' },
  },
  getNetworkEvent: {
    method: 'GET',
    path: '/api/v1/events/network/:event_id',
    summary: 'Get a network event',
    tag: 'events',
    access: readers,
    params: eventParams,
    responses: { 200: json(success('network_event')) },
    errors: ['NOT_FOUND'],
  },
  getNetworkEventProof: eventProof('network'),
  listDnsEvents: {
    method: 'GET',
    path: '/api/v1/events/dns',
    summary: 'List DNS events',
    tag: 'events',
    access: readers,
    query: dnsEventQuery,
    responses: { 200: list(paginated('dns_event')) },
  },
  getDnsEventHistogram: {
    method: 'GET',
    path: '/api/v1/events/dns/histogram',
    summary: 'Count DNS events over time by severity',
    tag: 'events',
    access: readers,
    query: dnsEventHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  getDnsEventValues: {
    method: 'GET',
    path: '/api/v1/events/dns/values',
    summary: 'List the most frequent values of an attribute of DNS events',
    tag: 'events',
    access: readers,
    query: dnsEventValuesQuery,
    responses: { 200: json(success('value_counts')) },
  },
  streamDnsEvents: {
    method: 'GET',
    path: '/api/v1/events/dns/stream',
    summary: 'Stream DNS events over a WebSocket',
    tag: 'events',
    access: readers,
    query: dnsEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.dns' },
  },
  getDnsEvent: {
    method: 'GET',
    path: '/api/v1/events/dns/:event_id',
    summary: 'Get a DNS event',
    tag: 'events',
    access: readers,
    params: eventParams,
    responses: { 200: json(success('dns_event')) },
    errors: ['NOT_FOUND'],
  },
  getDnsEventProof: eventProof('dns'),
} as const satisfies Record<string, Route>;
