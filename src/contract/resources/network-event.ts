import { connectionStates, directions, eventSources } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, count, optional, real, severity, shape, text, timestamp, uuid } from './fields.ts';

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
  app_protocol: optional(text('Application protocol that the sensor recognised, in lower case.')),
  src_bytes: optional(count('IP bytes sent by the originator.')),
  dst_bytes: optional(count('IP bytes sent by the responder.')),
  src_payload_bytes: optional(count('Payload bytes sent by the originator.')),
  dst_payload_bytes: optional(count('Payload bytes sent by the responder.')),
  src_packets: optional(count('Packets sent by the originator.')),
  dst_packets: optional(count('Packets sent by the responder.')),
  missed_bytes: optional(count('Payload bytes that the sensor knows it missed.')),
  state: optional(oneOf(connectionStates, { description: 'What became of the connection.' })),
  conn_state: optional(text("The sensor's own word for the state.")),
  history: optional(text("The sensor's record of flags seen, in order.")),
  community_id: optional(text('Community ID flow hash (version 1); computed where the sensor gave none.')),
  connection_id: optional(text("The sensor's id of the connection: Zeek uid, Suricata flow_id.")),
  vlan: optional(between(0, 4095, 'VLAN identifier.')),
  sensor: optional(text('Name of the sensor that reported it.')),
};

export const NetworkEvent = shape('NetworkEvent', {
  ...told,
  end_time: optional(timestamp('Start plus duration.')),
  direction: oneOf(directions, { description: 'By the home networks (network.home).' }),
  source: oneOf(eventSources, { description: 'Format in which it came.' }),
  severity: severity('The highest finding on it, else informational.'),
  src_asset_id: optional(uuid('Asset of the originator.')),
  dst_asset_id: optional(uuid('Asset of the responder.')),
  received_at: timestamp('When the service took it in.'),
});
export type NetworkEvent = Static<typeof NetworkEvent>;

/** One event as `POST /api/v1/events/network` and native lines of ingest take it. */
export const NetworkEventInput = shape('NetworkEventInput', {
  type: optional(oneOf(['network_event'], { description: 'Tells the kind of event in mixed ingest.' })),
  id: optional(uuid('An id that makes a repetition a duplicate; assigned where absent.')),
  ...told,
  severity: optional(severity('Defaults to informational.')),
});
export type NetworkEventInput = Static<typeof NetworkEventInput>;
