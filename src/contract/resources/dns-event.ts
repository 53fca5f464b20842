import { dnsKinds, eventSources } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  address,
  between,
  flag,
  list,
  optional,
  part,
  real,
  severity,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

export const DnsAnswer = part(
  {
    type: optional(text('Type of the record by name: A, AAAA, CNAME …')),
    ttl: optional(real('Time to live, in seconds.', { minimum: 0, maximum: 2 ** 32 - 1 })),
    data: text('Value of the record in text form.'),
  },
  'One record of the answer section.',
);
export type DnsAnswer = Static<typeof DnsAnswer>;

/** What a sender of our own shape may say; the rest is found out by the service. */
const told = {
  timestamp: timestamp('Time of the query, or of the response where only that was seen.'),
  src_ip: address('The client, whichever way the sensor wrote it.'),
  src_port: optional(between(0, 65535, 'Port of the client.')),
  dst_ip: address('The resolver.'),
  dst_port: optional(between(0, 65535, 'Port of the resolver.')),
  transport: text('Transport protocol in lower case, up to 16 of a–z, 0–9 and + . / _ -: udp, tcp …', {
    minLength: 1,
  }),
  kind: oneOf(dnsKinds, { description: 'A query, a response, or both in one record.' }),
  transaction_id: optional(between(0, 65535, 'DNS message id.')),
  query: optional(text('Name asked for.')),
  qtype: optional(text('Type asked for, by name.')),
  qclass: optional(text('Class asked for, by name.')),
  rcode: optional(between(0, 65535, 'Response code (RFC 6895).')),
  rcode_name: optional(text('Response code by name: NOERROR, NXDOMAIN …')),
  answers: optional(list(DnsAnswer, 'Records of the answer section.')),
  authoritative: optional(flag('AA: the server is an authority for the name.')),
  truncated: optional(flag('TC: the message was cut off.')),
  recursion_desired: optional(flag('RD: the client asked for recursion.')),
  recursion_available: optional(flag('RA: the server offers recursion.')),
  rejected: optional(flag('The server refused the query.')),
  rtt_ms: optional(real('From the query to its response, in milliseconds.', { minimum: 0 })),
  connection_id: optional(text("The sensor's id of the connection: Zeek uid, Suricata flow_id.")),
  community_id: optional(text('Community ID flow hash (version 1); computed where the sensor gave none.')),
  sensor: optional(text('Name of the sensor, as the record or the request states it.')),
};

export const DnsEvent = shape('DnsEvent', {
  ...told,
  registered_domain: optional(text('Registrable part of the name (public suffix list).')),
  source: oneOf(eventSources, { description: 'Format in which it came.' }),
  severity: severity('The highest finding on it, else informational.'),
  src_asset_id: optional(uuid('Asset of the client.')),
  dst_asset_id: optional(uuid('Asset of the resolver.')),
  received_at: timestamp('When the service took it in.'),
  sensor_id: optional(
    uuid('Principal whose credentials sent it; absent for events stored before it was recorded.'),
  ),
});
export type DnsEvent = Static<typeof DnsEvent>;

/** One event as `POST /api/v1/events/dns` and native lines of ingest take it. */
export const DnsEventInput = shape('DnsEventInput', {
  type: optional(oneOf(['dns_event'], { description: 'Tells the kind of event in mixed ingest.' })),
  id: optional(
    uuid(
      'An id that makes a repetition by the same sensor a duplicate; assigned where absent, or where another sensor has used it.',
    ),
  ),
  ...told,
  severity: optional(severity('Defaults to informational.')),
});
export type DnsEventInput = Static<typeof DnsEventInput>;
