import { type TSchema, Type } from 'typebox';
import { limits } from '../../limits.ts';
import { answer } from '../envelopes.ts';
import { DnsEventInput } from '../resources/dns-event.ts';
import { anyObject, text } from '../resources/fields.ts';
import { ackMode, IngestAnswer, ingestSource } from '../resources/ingest.ts';
import { NetworkEventInput } from '../resources/network-event.ts';
import { receiptHeader } from './receipts.ts';
import { closed, json, type Route } from './route.ts';

const senders = ['sensor', 'admin'] as const;

const headers = Type.Object(
  {
    ...receiptHeader,
    'idempotency-key': Type.Optional(
      text('Makes retries safe for 24 hours: a retry gets the response of the first request.', {
        minLength: 1,
        maxLength: limits.maxIdempotencyKeyBytes,
      }),
    ),
  },
  closed,
);

const ack = Type.Optional(ackMode);
const sensor = Type.Optional(text('Name of the sensor.', { minLength: 1, maxLength: 200 }));
const ingestQuery = Type.Object({ source: Type.Optional(ingestSource), sensor, ack }, closed);
const typedIngestQuery = Type.Object({ sensor, ack }, closed);
const ingestErrors = ['CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
const ingestMediaTypes = ['application/x-ndjson', 'application/json'] as const;
const oneOrMore = <S extends TSchema>(event: S) => Type.Union([event, Type.Array(event)]);

/** Ingest in the formats of Candor and of sensors. */
export const ingestRoutes = {
  ingest: {
    method: 'POST',
    path: '/api/v1/ingest',
    summary: 'Ingest records; the format of each is detected',
    tag: 'ingest',
    access: senders,
    query: ingestQuery,
    headers,
    body: {
      kind: 'ingest',
      mediaTypes: [...ingestMediaTypes, 'text/tab-separated-values', 'text/plain'],
      schema: oneOrMore(anyObject('One record in Zeek, Suricata, ECS or native format.')),
    },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },
  ingestNetworkEvents: {
    method: 'POST',
    path: '/api/v1/events/network',
    summary: 'Ingest network events in native format',
    tag: 'ingest',
    access: senders,
    query: typedIngestQuery,
    headers,
    body: {
      kind: 'ingest',
      mediaTypes: ingestMediaTypes,
      schema: oneOrMore(NetworkEventInput),
      table: 'network',
    },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },
  ingestDnsEvents: {
    method: 'POST',
    path: '/api/v1/events/dns',
    summary: 'Ingest DNS events in native format',
    tag: 'ingest',
    access: senders,
    query: typedIngestQuery,
    headers,
    body: { kind: 'ingest', mediaTypes: ingestMediaTypes, schema: oneOrMore(DnsEventInput), table: 'dns' },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },
} as const satisfies Record<string, Route>;
