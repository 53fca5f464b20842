import { Type } from 'typebox';
import { anyObject, parameters, text, uuid } from '../resources/fields.ts';
import { channelHeader } from '../splunk.ts';
import { receiptHeader } from './receipts.ts';
import { anyMediaType, get, json, post, sharing } from './route.ts';

const senders = ['sensor', 'admin'] as const;

const given = (description: string) => Type.Optional(text(description, { minLength: 0, maxLength: 1024 }));
/** Parameters that are accepted because clients send them. They have no effect: there are no indices or extractions. */
const unused = given('Accepted for compatibility with Splunk; has no effect.');
const channel = Type.Optional(
  uuid('Identifier of the channel, if no header names it. With a channel, responses have an ackId.'),
);

const collectQuery = parameters({
  channel,
  host: given('Name of the sensor for events that name none.'),
  sensor: Type.Optional(
    text('Name of the sensor; overrides the names in the events.', { minLength: 1, maxLength: 200 }),
  ),
  source: unused,
  sourcetype: unused,
  index: unused,
  time: unused,
  auto_extract_timestamp: unused,
});
const channelHeaders = parameters({
  [channelHeader]: Type.Optional(uuid('Identifier of the channel. With a channel, responses have an ackId.')),
});

const collectHeaders = parameters({ ...channelHeaders.properties, ...receiptHeader });

/** Accepted media types. Splunk accepts any media type and a missing media type, and clients rely on this. */
const mediaTypes = [anyMediaType] as const;
const answered = (description: string) => ({ 200: json(anyObject(description)) });

const collect = {
  query: collectQuery,
  headers: collectHeaders,
  responses: answered(
    'text, code 0, and ackId if a channel is named. All events are on disk except rejected ones: rejected is their number, errors the first 100 (event from 0, code, field, reason).',
  ),
} as const;

/** The part of the Splunk HTTP Event Collector that shippers use. */
export const splunkRoutes = sharing({ tag: 'shippers', access: senders, protocol: 'splunk' })({
  splunkEvent: post('/services/collector', 'Ingest records as Splunk HEC events', {
    ...collect,
    also: [
      { method: 'POST', path: '/services/collector/1.0' },
      { method: 'POST', path: '/services/collector/event' },
      { method: 'POST', path: '/services/collector/event/1.0' },
    ],
    body: {
      kind: 'ingest',
      mediaTypes,
      schema: anyObject(
        'Event envelopes, concatenated or in an array. event is a record, as an object or as text; host is the name of the sensor; time (epoch seconds) is used if the record has no time.',
      ),
    },
  }),
  splunkRaw: post('/services/collector/raw', 'Ingest records without envelopes, one per line', {
    ...collect,
    also: [{ method: 'POST', path: '/services/collector/raw/1.0' }],
    body: {
      kind: 'ingest',
      mediaTypes,
      schema: anyObject(
        'One record in Zeek, Suricata or native format per line, or rows of Zeek TSV after their header.',
      ),
    },
  }),
  splunkAck: post('/services/collector/ack', 'Query whether events sent on a channel are on disk', {
    also: [{ method: 'POST', path: '/services/collector/ack/1.0' }],
    query: parameters({ channel }),
    headers: channelHeaders,
    body: {
      kind: 'ingest',
      mediaTypes,
      schema: anyObject('acks: array of ackId values from earlier responses.'),
    },
    responses: answered('acks: true for each ackId issued on this channel since the service started.'),
  }),
  splunkHealth: get(
    '/services/collector/health',
    'Check whether events are accepted, and whether the token in the request may send them',
    {
      also: [{ method: 'GET', path: '/services/collector/health/1.0' }],
      access: 'public',
      query: parameters({ channel: unused, ack: unused }),
      responses: { ...answered('text and code 17.'), 503: json(anyObject('text and code 18 or 23.')) },
    },
  ),
});
