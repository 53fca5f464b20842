import { limits } from '../../limits.ts';
import { maxAppProtocols } from '../app-protocols.ts';
import { connectionStates, directions, eventSources } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, list, optional, real, severity, shape, text, timestamp, uuid } from './fields.ts';

/** Bytes and packets of one connection. */
const counter = (description: string) => between(0, limits.maxEventCount, description);
const sent = (who: string) =>
  counter(
    `IP bytes sent by the ${who}. More than a link of 100 Gbit/s carries in the duration and 20 s is left out of sums, charts and behavioural detection.`,
  );

/** What a sender of our own shape may say; the rest is found out by the service. */
const told = {
  timestamp: timestamp('Start of the flow.'),
  duration_ms: optional(real('From the first to the last packet, in milliseconds.', { minimum: 0 })),
  src_ip: address('Originator.'),
  src_port: optional(between(0, 65535, 'Port of the originator; for ICMP the type.')),
  src_mac: optional(text('Link-layer address of the originator, lowercase with colons.')),
  dst_ip: address('Responder.'),
  dst_port: optional(between(0, 65535, 'Port of the responder; for ICMP the code.')),
  dst_mac: optional(text('Link-layer address of the responder, lowercase with colons.')),
  transport: text('Transport protocol in lower case, up to 16 of a–z, 0–9 and + . / _ -: tcp, udp, icmp …', {
    minLength: 1,
  }),
  app_protocol: optional(
    text('The first of `app_protocols`, or the only one. In input a text with commas is a list.'),
  ),
  app_protocols: optional(
    list(
      text('A protocol.'),
      "Application protocols that the sensor recognised, in one vocabulary and lower case: `tls` for Zeek's `ssl`.",
      { maxItems: maxAppProtocols },
    ),
  ),
  src_bytes: optional(sent('originator')),
  dst_bytes: optional(sent('responder')),
  src_payload_bytes: optional(counter('Payload bytes sent by the originator.')),
  dst_payload_bytes: optional(counter('Payload bytes sent by the responder.')),
  src_packets: optional(counter('Packets sent by the originator.')),
  dst_packets: optional(counter('Packets sent by the responder.')),
  missed_bytes: optional(counter('Payload bytes that the sensor knows it missed.')),
  state: optional(oneOf(connectionStates, { description: 'What became of the connection.' })),
  conn_state: optional(text("The sensor's own word for the state.")),
  history: optional(text("The sensor's record of flags seen, in order.")),
  community_id: optional(text('Community ID flow hash (version 1); computed where the sensor gave none.')),
  connection_id: optional(text("The sensor's id of the connection: Zeek uid, Suricata flow_id.")),
  vlan: optional(between(0, 4095, 'VLAN identifier.')),
  sensor: optional(text('Name of the sensor, as the record or the request states it.')),
};

export const NetworkEvent = shape('NetworkEvent', {
  ...told,
  end_time: optional(timestamp('Start plus duration.')),
  app_protocol_stored: optional(
    text(
      "The sensor's own words, for events stored before protocols had one vocabulary; digests cover them.",
    ),
  ),
  direction: oneOf(directions, { description: 'By the home networks (network.home).' }),
  source: oneOf(eventSources, { description: 'Format in which it came.' }),
  severity: severity('The highest finding on it, else informational.'),
  src_asset_id: optional(uuid('Asset of the originator.')),
  dst_asset_id: optional(uuid('Asset of the responder.')),
  received_at: timestamp('When the service took it in.'),
  sensor_id: optional(
    uuid('Principal whose credentials sent it; absent for events stored before it was recorded.'),
  ),
});
export type NetworkEvent = Static<typeof NetworkEvent>;

/** One event as `POST /api/v1/events/network` and native lines of ingest take it. */
export const NetworkEventInput = shape('NetworkEventInput', {
  type: optional(oneOf(['network_event'], { description: 'Tells the kind of event in mixed ingest.' })),
  id: optional(
    uuid(
      'An id that makes a repetition by the same sensor a duplicate; assigned where absent, or where another sensor has used it.',
    ),
  ),
  ...told,
  severity: optional(severity('Defaults to informational.')),
});
export type NetworkEventInput = Static<typeof NetworkEventInput>;
