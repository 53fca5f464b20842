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

export const DnsAnswer = part('One record of the answer section.', {
  type: optional(text('Type of the record by name: A, AAAA, CNAME …')),
  ttl: optional(real('Time to live, in seconds.', { minimum: 0, maximum: 2 ** 32 - 1 })),
  data: text('Value of the record in text form.'),
});
export type DnsAnswer = Static<typeof DnsAnswer>;

/** Attributes that native input can set; the service determines the other attributes. */
const inputAttributes = {
  timestamp: timestamp('Time of the query, or of the response if only that was seen.'),
  src_ip: address('Address of the client, also for a response.'),
  src_port: optional(between(0, 65535, 'Port of the client.')),
  dst_ip: address('Address of the resolver.'),
  dst_port: optional(between(0, 65535, 'Port of the resolver.')),
  transport: text('Transport protocol in lower case, up to 16 of a–z, 0–9 and + . / _ -: udp, tcp …', {
    minLength: 1,
  }),
  kind: oneOf(dnsKinds, 'A query, a response, or both in one record.'),
  transaction_id: optional(between(0, 65535, 'DNS message id.')),
  query: optional(text('Name queried.')),
  qtype: optional(text('Query type by name.')),
  qclass: optional(text('Query class by name.')),
  rcode: optional(between(0, 65535, 'Response code (RFC 6895).')),
  rcode_name: optional(text('Response code by name: NOERROR, NXDOMAIN …')),
  answers: optional(list(DnsAnswer, 'Records of the answer section.')),
  authoritative: optional(flag('AA: the server is an authority for the name.')),
  truncated: optional(flag('TC: the message was truncated.')),
  recursion_desired: optional(flag('RD: the client asked for recursion.')),
  recursion_available: optional(flag('RA: the server offers recursion.')),
  rejected: optional(flag('The server refused the query.')),
  rtt_ms: optional(real('Round-trip time from the query to its response, in milliseconds.', { minimum: 0 })),
  connection_id: optional(text('Identifier of the connection at the sensor: Zeek uid, Suricata flow_id.')),
  community_id: optional(text('Community ID flow hash (version 1); computed if the sensor sent none.')),
  sensor: optional(text('Name of the sensor, from the record or the request.')),
};

export const DnsEvent = shape('DnsEvent', {
  ...inputAttributes,
  registered_domain: optional(text('Registrable part of the name (public suffix list).')),
  source: oneOf(eventSources, 'Format in which the event was received.'),
  severity: severity('Highest severity of the findings on the event, else informational.'),
  src_asset_id: optional(uuid('Identifier of the asset of the client.')),
  dst_asset_id: optional(uuid('Identifier of the asset of the resolver.')),
  received_at: timestamp('Time at which the service received the event.'),
  sensor_id: optional(
    uuid(
      'Identifier of the principal that sent the event; absent for events stored by versions that did not record it.',
    ),
  ),
});
export type DnsEvent = Static<typeof DnsEvent>;

/** One DNS event in native format, for `POST /api/v1/events/dns` and native lines of ingest. */
export const DnsEventInput = shape('DnsEventInput', {
  type: optional(oneOf(['dns_event'], 'Kind of event, for mixed ingest.')),
  id: optional(
    uuid(
      'Identifier of the event. A second event with the same id from the same sensor is a duplicate. The service assigns an id if it is absent or was used by another sensor.',
    ),
  ),
  ...inputAttributes,
  severity: optional(severity('Defaults to informational.')),
});
export type DnsEventInput = Static<typeof DnsEventInput>;
