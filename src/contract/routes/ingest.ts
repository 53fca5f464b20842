import { type TSchema, Type } from 'typebox';
import { limits } from '../../limits.ts';
import { answer } from '../envelopes.ts';
import { DnsEventInput } from '../resources/dns-event.ts';
import { anyObject, parameters, text } from '../resources/fields.ts';
import { ackMode, IngestAnswer, ingestSource } from '../resources/ingest.ts';
import { NetworkEventInput } from '../resources/network-event.ts';
import { receiptHeader } from './receipts.ts';
import { json, post, sharing } from './route.ts';

const senders = ['sensor', 'admin'] as const;

const headers = parameters({
  ...receiptHeader,
  'idempotency-key': Type.Optional(
    text('Makes retries safe for 24 hours: a retry gets the response of the first request.', {
      minLength: 1,
      maxLength: limits.maxIdempotencyKeyBytes,
    }),
  ),
});

const ack = Type.Optional(ackMode);
const sensor = Type.Optional(text('Name of the sensor.', { minLength: 1, maxLength: 200 }));
const ingestQuery = parameters({ source: Type.Optional(ingestSource), sensor, ack });
const typedIngestQuery = parameters({ sensor, ack });
const ingestErrors = ['CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
const ingestMediaTypes = ['application/x-ndjson', 'application/json'] as const;
const oneOrMore = <S extends TSchema>(event: S) => Type.Union([event, Type.Array(event)]);

/** Ingest in the formats of Candor and of sensors. */
export const ingestRoutes = sharing({ tag: 'ingest', access: senders })({
  ingest: post('/api/v1/ingest', 'Ingest records; the format of each is detected', {
    query: ingestQuery,
    headers,
    body: {
      kind: 'ingest',
      mediaTypes: [...ingestMediaTypes, 'text/tab-separated-values', 'text/plain'],
      schema: oneOrMore(anyObject('One record in Zeek, Suricata, ECS or native format.')),
    },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  }),
  ingestNetworkEvents: post('/api/v1/events/network', 'Ingest network events in native format', {
    query: typedIngestQuery,
    headers,
    body: { kind: 'ingest', mediaTypes: ingestMediaTypes, schema: oneOrMore(NetworkEventInput), table: 'network' },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  }),
  ingestDnsEvents: post('/api/v1/events/dns', 'Ingest DNS events in native format', {
    query: typedIngestQuery,
    headers,
    body: { kind: 'ingest', mediaTypes: ingestMediaTypes, schema: oneOrMore(DnsEventInput), table: 'dns' },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  }),
});
