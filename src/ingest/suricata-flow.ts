import { protocolWord } from '../contract/app-protocols.ts';
import { type FlowFlags, suricataState, tcpFlags } from '../events/connection-state.ts';
import { TextSpan } from '../events/format/text-span.ts';
import type { NetworkRecord, WithSpans } from '../events/records.ts';
import { type Address, direction } from './addresses.ts';
import { newNetworkRecord } from './event-records.ts';
import { count, list, mac, object, text, whole } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import type { RecordFields } from './record-fields.ts';
import { reject } from './rejection.ts';
import { slotsOf } from './slots.ts';
import { dstPort, eveFields, requiredTransport, srcPort, suricataSensor } from './suricata-envelope.ts';

const networkRecord = newNetworkRecord();

const f = slotsOf(
  eveFields,
  'app_proto vlan flow flow.start flow.end flow.pkts_toserver flow.pkts_toclient flow.bytes_toserver flow.bytes_toclient flow.state tcp tcp.tcp_flags tcp.tcp_flags_tc tcp.rst tcp.fin ether ether.src_mac ether.src_macs ether.dest_mac ether.dest_macs',
);
export const flowSlots = f;
const communityId = new TextSpan();

/** Addresses and ports of a flow. The source is the originator. */
export interface FlowEnds {
  readonly src: Address;
  readonly src_port: number | undefined;
  readonly dst: Address;
  readonly dst_port: number | undefined;
}

export function suricataFlow(r: RecordFields, reading: ParseContext): WithSpans<NetworkRecord> {
  const ends = {
    src: r.requiredAddress(f.src_ip, 'src_ip', reading.addresses),
    src_port: srcPort(r),
    dst: r.requiredAddress(f.dest_ip, 'dest_ip', reading.addresses),
    dst_port: dstPort(r),
  };
  return flowRecord(r, ends, requiredTransport(r), reading);
}

/**
 * Reads the event in an EVE record with or without a `flow`. Counters are the totals of the flow up to the
 * record, bytes include all headers, and the time is the flow's start, if known.
 */
export function flowRecord(
  r: RecordFields,
  { src, src_port, dst, dst_port }: FlowEnds,
  transport: string,
  { sensor }: ParseContext,
): WithSpans<NetworkRecord> {
  object(r.value(f.flow), 'flow');
  object(r.value(f.tcp), 'tcp');
  object(r.value(f.ether), 'ether');
  const hasStart = r.has(f['flow.start']);
  const srcPackets = count(r.value(f['flow.pkts_toserver']), 'flow.pkts_toserver');
  const dstPackets = count(r.value(f['flow.pkts_toclient']), 'flow.pkts_toclient');
  const connState = text(r.value(f['flow.state']), 'flow.state');
  const flags = text(r.value(f['tcp.tcp_flags']), 'tcp.tcp_flags');
  const reported = r.isoTime(f.timestamp, 'timestamp');
  networkRecord.id = undefined;
  networkRecord.timestamp = hasStart ? r.isoTime(f['flow.start'], 'flow.start') : reported;
  networkRecord.duration_ms = hasStart ? duration(r) : undefined;
  networkRecord.src_ip = src.text;
  networkRecord.src_port = src_port;
  networkRecord.src_mac = link(
    r.value(f['ether.src_mac']),
    'ether.src_mac',
    r.value(f['ether.src_macs']),
    'ether.src_macs',
  );
  networkRecord.dst_ip = dst.text;
  networkRecord.dst_port = dst_port;
  networkRecord.dst_mac = link(
    r.value(f['ether.dest_mac']),
    'ether.dest_mac',
    r.value(f['ether.dest_macs']),
    'ether.dest_macs',
  );
  networkRecord.transport = transport;
  networkRecord.app_protocol = appProtocol(text(r.value(f.app_proto), 'app_proto'));
  networkRecord.src_bytes = count(r.value(f['flow.bytes_toserver']), 'flow.bytes_toserver');
  networkRecord.dst_bytes = count(r.value(f['flow.bytes_toclient']), 'flow.bytes_toclient');
  networkRecord.src_packets = srcPackets;
  networkRecord.dst_packets = dstPackets;
  networkRecord.state =
    connState === undefined ? undefined : suricataState(connState, transport, dstPackets, flagsOf(r));
  networkRecord.conn_state = connState;
  networkRecord.history = flags;
  networkRecord.direction = direction(src, dst);
  networkRecord.community_id = r.unique(f.community_id, 'community_id', communityId);
  networkRecord.connection_id = r.flowId;
  networkRecord.vlan = whole(list(r.value(f.vlan), 'vlan')?.[0], 'vlan', 4095);
  networkRecord.sensor = sensor ?? suricataSensor(r);
  networkRecord.source = 'suricata';
  networkRecord.severity = 'informational';
  return networkRecord;
}

/**
 * Returns a link-layer address. The record of a packet has one address per side; the record of a flow has a
 * list, of which the first address is stored.
 */
function link(one: unknown, field: string, all: unknown, listField: string): string | undefined {
  return mac(one, field) ?? mac(list(all, listField)?.[0], listField);
}

/** Computes the duration from both times to the microsecond, because `age` has whole seconds only. */
function duration(r: RecordFields): number | undefined {
  if (!r.has(f['flow.end'])) return undefined;
  const millis = r.isoTime(f['flow.end'], 'flow.end') - r.isoTime(f['flow.start'], 'flow.start');
  const micros = millis * 1000 + r.isoMicros(f['flow.end']) - r.isoMicros(f['flow.start']);
  return micros >= 0 ? micros / 1000 : reject('flow.end', 'is before flow.start');
}

/**
 * Returns the protocol, except `failed` (no parser recognised the protocol) and `unknown` (no parser has
 * tried).
 */
function appProtocol(name: string | undefined): string | undefined {
  if (name === undefined || name === 'failed' || name === 'unknown') return undefined;
  return protocolWord(name);
}

/**
 * Returns the flags of a flow's packets. Without the server's flags, the record does not separate the sides.
 */
function flagsOf(r: RecordFields): FlowFlags {
  const byServer = flagBits(r.value(f['tcp.tcp_flags_tc']), 'tcp.tcp_flags_tc');
  const all =
    (flagBits(r.value(f['tcp.tcp_flags']), 'tcp.tcp_flags') ?? 0) |
    (byServer ?? 0) |
    (r.value(f['tcp.rst']) === true ? tcpFlags.rst : 0) |
    (r.value(f['tcp.fin']) === true ? tcpFlags.fin : 0);
  return { all, byServer };
}

function flagBits(value: unknown, field: string): number | undefined {
  const flags = text(value, field);
  if (flags === undefined) return undefined;
  const bits = bitsOf(flags);
  return bits >= 0 ? bits : reject(field, 'is not a number in hexadecimal');
}

const bitsOf = memoize((flags) => (/^[0-9a-f]{1,4}$/i.test(flags) ? Number.parseInt(flags, 16) : -1));
