import { limits } from '../../limits.ts';
import { maxAppProtocols } from '../app-protocols.ts';
import { connectionStates, directions, eventSources } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, list, optional, real, severity, shape, text, timestamp, uuid } from './fields.ts';

/** Returns the schema of a byte or packet count of one connection. */
const counter = (description: string) => between(0, limits.maxEventCount, description);
const sent = (who: string) =>
  counter(
    `IP bytes sent by the ${who}. Values above what a 100 Gbit/s link can carry in the duration plus 20 s are excluded from sums, charts and behavioural detection.`,
  );

/** Attributes that native input can set; the service determines the other attributes. */
const inputAttributes = {
  timestamp: timestamp('Start of the connection.'),
  duration_ms: optional(real('Time from the first to the last packet, in milliseconds.', { minimum: 0 })),
  src_ip: address('Address of the originator.'),
  src_port: optional(between(0, 65535, 'Port of the originator; for ICMP the type.')),
  src_mac: optional(text('MAC address of the originator, in lower case with colons.')),
  dst_ip: address('Address of the responder.'),
  dst_port: optional(between(0, 65535, 'Port of the responder; for ICMP the code.')),
  dst_mac: optional(text('MAC address of the responder, in lower case with colons.')),
  transport: text('Transport protocol in lower case, up to 16 of a–z, 0–9 and + . / _ -: tcp, udp, icmp …', {
    minLength: 1,
  }),
  app_protocol: optional(text('First of `app_protocols`. In input, a comma-separated list is accepted.')),
  app_protocols: optional(
    list(
      text('A protocol.'),
      "Application protocols that the sensor recognised, as normalised names in lower case: `tls` for Zeek's `ssl`.",
      { maxItems: maxAppProtocols },
    ),
  ),
  src_bytes: optional(sent('originator')),
  dst_bytes: optional(sent('responder')),
  src_payload_bytes: optional(counter('Payload bytes sent by the originator.')),
  dst_payload_bytes: optional(counter('Payload bytes sent by the responder.')),
  src_packets: optional(counter('Packets sent by the originator.')),
  dst_packets: optional(counter('Packets sent by the responder.')),
  missed_bytes: optional(counter('Payload bytes that the sensor reports as missed.')),
  state: optional(oneOf(connectionStates, 'State of the connection.')),
  conn_state: optional(text('State of the connection as named by the sensor.')),
  history: optional(text('History of observed flags, as recorded by the sensor.')),
  community_id: optional(text('Community ID flow hash (version 1); computed if the sensor sent none.')),
  connection_id: optional(text('Identifier of the connection at the sensor: Zeek uid, Suricata flow_id.')),
  vlan: optional(between(0, 4095, 'VLAN identifier.')),
  sensor: optional(text('Name of the sensor, from the record or the request.')),
};

export const NetworkEvent = shape('NetworkEvent', {
  ...inputAttributes,
  end_time: optional(timestamp('End of the connection: start plus duration.')),
  app_protocol_stored: optional(
    text(
      'Application protocols as named by the sensor, for events stored before names were normalised; digests cover this value.',
    ),
  ),
  direction: oneOf(directions, 'Direction relative to the home networks (network.home).'),
  source: oneOf(eventSources, 'Format in which the event was received.'),
  severity: severity('Highest severity of the findings on the event, else informational.'),
  src_asset_id: optional(uuid('Identifier of the asset of the originator.')),
  dst_asset_id: optional(uuid('Identifier of the asset of the responder.')),
  received_at: timestamp('Time at which the service received the event.'),
  sensor_id: optional(
    uuid(
      'Identifier of the principal that sent the event; absent for events stored by versions that did not record it.',
    ),
  ),
});
export type NetworkEvent = Static<typeof NetworkEvent>;

/** One network event in native format, for `POST /api/v1/events/network` and native lines of ingest. */
export const NetworkEventInput = shape('NetworkEventInput', {
  type: optional(oneOf(['network_event'], 'Kind of event, for mixed ingest.')),
  id: optional(
    uuid(
      'Identifier of the event. A second event with the same id from the same sensor is a duplicate. The service assigns an id if it is absent or was used by another sensor.',
    ),
  ),
  ...inputAttributes,
  severity: optional(severity('Defaults to informational.')),
});
export type NetworkEventInput = Static<typeof NetworkEventInput>;
