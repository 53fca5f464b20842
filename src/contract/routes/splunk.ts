import { Type } from 'typebox';
import { anyObject, text, uuid } from '../resources/fields.ts';
import { channelHeader } from '../splunk.ts';
import { receiptHeader } from './receipts.ts';
import { anyMediaType, closed, json, type Route } from './route.ts';

const senders = ['sensor', 'admin'] as const;

const given = (description: string) => Type.Optional(text(description, { minLength: 0, maxLength: 1024 }));
/** Clients send it, and it has no effect: there are no indices and extractions here. */
const unused = given('As Splunk takes it. It has no effect.');
const channel = Type.Optional(uuid('The channel, where no header names it: answers have an ackId then.'));

const collectQuery = Type.Object(
  {
    channel,
    host: given('Names the sensor of what names none.'),
    sensor: Type.Optional(
      text('Names the sensor, over what the events say.', { minLength: 1, maxLength: 200 }),
    ),
    source: unused,
    sourcetype: unused,
    index: unused,
    time: unused,
    auto_extract_timestamp: unused,
  },
  closed,
);
const channelHeaders = Type.Object(
  { [channelHeader]: Type.Optional(uuid('The channel: answers have an ackId then.')) },
  closed,
);

const collectHeaders = Type.Object({ ...channelHeaders.properties, ...receiptHeader }, closed);

const ofSplunk = { tag: 'shippers', protocol: 'splunk' } as const;
/** As Splunk: clients name the media type as they like, or not at all. */
const mediaTypes = [anyMediaType] as const;
const answered = (description: string) => ({ 200: json(anyObject(description)) });

const collect = {
  ...ofSplunk,
  method: 'POST',
  access: senders,
  query: collectQuery,
  headers: collectHeaders,
  responses: answered(
    'text, code 0, and ackId where a channel is named: all but what errors (event from 0, code, field, reason; the first 100) and rejected tell of is on disk.',
  ),
} as const;

/** The part of Splunk's HTTP Event Collector that shippers use. */
export const splunkRoutes = {
  splunkEvent: {
    ...collect,
    path: '/services/collector',
    also: [
      { method: 'POST', path: '/services/collector/1.0' },
      { method: 'POST', path: '/services/collector/event' },
      { method: 'POST', path: '/services/collector/event/1.0' },
    ],
    summary: "Take sensors' records as Splunk takes events",
    body: {
      kind: 'ingest',
      mediaTypes,
      schema: anyObject(
        'Envelopes one behind the other, or in an array: event is a record, or a text of one; host names the sensor, time (epoch seconds) when it happened where the record does not.',
      ),
    },
  },
  splunkRaw: {
    ...collect,
    path: '/services/collector/raw',
    also: [{ method: 'POST', path: '/services/collector/raw/1.0' }],
    summary: 'The same for records without envelopes, one a line',
    body: {
      kind: 'ingest',
      mediaTypes,
      schema: anyObject(
        'One record of Zeek, Suricata or our own a line, or rows of Zeek TSV behind their header.',
      ),
    },
  },
  splunkAck: {
    ...ofSplunk,
    method: 'POST',
    path: '/services/collector/ack',
    also: [{ method: 'POST', path: '/services/collector/ack/1.0' }],
    summary: 'Whether what was sent on a channel is on disk',
    access: senders,
    query: Type.Object({ channel }, closed),
    headers: channelHeaders,
    body: { kind: 'ingest', mediaTypes, schema: anyObject('acks: ids that answers had.') },
    responses: answered('acks: true for each id that was given on this channel since the service started.'),
  },
  splunkHealth: {
    ...ofSplunk,
    method: 'GET',
    path: '/services/collector/health',
    also: [{ method: 'GET', path: '/services/collector/health/1.0' }],
    summary: 'Whether events are taken, and a token that comes with the question may send some',
    access: 'public',
    query: Type.Object({ channel: unused, ack: unused }, closed),
    responses: { ...answered('text and code 17.'), 503: json(anyObject('text and code 18 or 23.')) },
  },
} as const satisfies Record<string, Route>;
