import { joinedProtocols } from '../contract/app-protocols.ts';
import { ecsState, sensorState } from '../events/connection-state.ts';
import type { NetworkRecord, WithSpans } from '../events/records.ts';
import { direction } from './addresses.ts';
import { field, numeric, single, values } from './ecs-document.ts';
import { ecsDuration, ecsTransport, end } from './ecs-ends.ts';
import { newNetworkRecord } from './event-records.ts';
import { count, type JsonObject, mac, text, whole, zeekTime } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { senderOf } from './wrapped.ts';

const networkRecord = newNetworkRecord();

const timestamp = field('@timestamp');
const start = field('event.start');
const ended = field('event.end');
const eventType = field('event.type');
const sourceMac = field('source.mac');
const destinationMac = field('destination.mac');
const protocol = field('network.protocol');
const sourceBytes = field('source.bytes');
const destinationBytes = field('destination.bytes');
const sourcePackets = field('source.packets');
const destinationPackets = field('destination.packets');
const networkState = field('network.state');
const history = field('network.history');
const communityId = field('network.community_id');
const session = field('zeek.session_id');
const flow = field('flow.id');
const event = field('event.id');
const vlan = field('network.vlan.id');

/**
 * Reads a flow in ECS from any source (Packetbeat, firewalls, Logstash pipelines). Byte counts are counts of IP
 * packets, as in flow reports. `network.bytes` is the sum of both sides, from which the bytes of each side
 * cannot be derived. `network.direction` is not used: it follows the networks configured at the sender, and may
 * describe the point of view of a host (`ingress`, `egress`). The stored direction depends only on the home
 * networks.
 */
export function ecsNetwork(d: JsonObject, reading: ParseContext): WithSpans<NetworkRecord> {
  const src = end(d, 'source', reading);
  const dst = end(d, 'destination', reading);
  const transport = ecsTransport(d);
  const srcPackets = count(numeric(sourcePackets(d)), 'source.packets');
  const dstPackets = count(numeric(destinationPackets(d)), 'destination.packets');
  const connState = text(single(networkState(d)), 'network.state');
  const flags = text(single(history(d)), 'network.history');
  const bySensor = sensorState(connState, transport, flags, dstPackets);
  networkRecord.id = undefined;
  networkRecord.timestamp = ecsTime(d);
  networkRecord.duration_ms = ecsDuration(d) ?? between(d);
  networkRecord.src_ip = src.address.text;
  networkRecord.src_port = src.port;
  networkRecord.src_mac = mac(single(sourceMac(d)), 'source.mac');
  networkRecord.dst_ip = dst.address.text;
  networkRecord.dst_port = dst.port;
  networkRecord.dst_mac = mac(single(destinationMac(d)), 'destination.mac');
  networkRecord.transport = transport;
  networkRecord.app_protocol = joinedProtocols(values(protocol(d)).map((one) => text(one, 'network.protocol') ?? ''));
  networkRecord.src_bytes = count(numeric(sourceBytes(d)), 'source.bytes');
  networkRecord.dst_bytes = count(numeric(destinationBytes(d)), 'destination.bytes');
  networkRecord.src_packets = srcPackets;
  networkRecord.dst_packets = dstPackets;
  networkRecord.state = ecsState(values(eventType(d)), bySensor, srcPackets, dstPackets);
  networkRecord.conn_state = connState;
  networkRecord.history = flags;
  networkRecord.direction = direction(src.address, dst.address);
  networkRecord.community_id = text(single(communityId(d)), 'network.community_id');
  networkRecord.connection_id = ecsConnection(d);
  networkRecord.vlan = whole(numeric(vlan(d)), 'network.vlan.id', 4095);
  networkRecord.sensor = reading.sensor ?? senderOf(d);
  networkRecord.source = 'ecs';
  networkRecord.severity = 'informational';
  return networkRecord;
}

/**
 * Returns the start of a flow: `event.start` if present, otherwise `@timestamp`, which is the time of the
 * report.
 */
export function ecsTime(d: JsonObject): number {
  const began = start(d);
  return began === undefined ? zeekTime(timestamp(d), '@timestamp') : zeekTime(began, 'event.start');
}

/**
 * Returns the time from start to end, which is used if the document has no duration; undefined if the end is
 * before the start.
 */
function between(d: JsonObject): number | undefined {
  if (start(d) === undefined || ended(d) === undefined) return undefined;
  const millis = zeekTime(ended(d), 'event.end') - zeekTime(start(d), 'event.start');
  return millis >= 0 ? millis : undefined;
}

/**
 * Returns the id of a connection: Zeek's uid, the flow id that Packetbeat reports repeatedly, or the id of the
 * event. Packetbeat derives the id from the addresses and ports, so a later flow between these ports has the
 * same id. The id therefore identifies a flow only together with the start.
 */
export function ecsConnection(d: JsonObject): string | undefined {
  const uid = text(single(session(d)), 'zeek.session_id');
  if (uid !== undefined) return uid;
  const id = text(single(flow(d)), 'flow.id');
  const began = start(d);
  if (id !== undefined) return typeof began === 'string' ? text(`${id}@${began}`, 'flow.id') : id;
  return text(single(event(d)), 'event.id');
}
