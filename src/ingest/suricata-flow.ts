import { protocolWord } from '../contract/app-protocols.ts';
import { type FlowFlags, suricataState, tcpFlags } from '../events/connection-state.ts';
import type { NetworkRecord } from '../events/records.ts';
import { type Address, direction } from './addresses.ts';
import { newNetworkRecord } from './event-records.ts';
import { count, isoTime, type JsonObject, list, mac, object, text, whole } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { reject } from './rejection.ts';
import { dstPort, requiredTransport, srcPort, suricataSensor } from './suricata-envelope.ts';
import { isoMicros } from './time.ts';

const networkRecord = newNetworkRecord();

/** Addresses and ports of a flow. The source is the originator. */
export interface FlowEnds {
  readonly src: Address;
  readonly src_port: number | undefined;
  readonly dst: Address;
  readonly dst_port: number | undefined;
}

export function suricataFlow(r: JsonObject, flowId: string | undefined, reading: ParseContext): NetworkRecord {
  const ends = {
    src: reading.addresses.required(r.src_ip, 'src_ip'),
    src_port: srcPort(r),
    dst: reading.addresses.required(r.dest_ip, 'dest_ip'),
    dst_port: dstPort(r),
  };
  return flowRecord(r, flowId, ends, requiredTransport(r), reading);
}

/**
 * Reads the event in an EVE record with or without a `flow`. Counters are the totals of the flow up to the
 * record, bytes include all headers, and the time is the flow's start, if known.
 */
export function flowRecord(
  r: JsonObject,
  flowId: string | undefined,
  { src, src_port, dst, dst_port }: FlowEnds,
  transport: string,
  { sensor }: ParseContext,
): NetworkRecord {
  const flow = object(r.flow, 'flow') ?? none;
  const tcp = object(r.tcp, 'tcp') ?? none;
  const ether = object(r.ether, 'ether') ?? none;
  const started = flow.start ?? undefined;
  const srcPackets = count(flow.pkts_toserver, 'flow.pkts_toserver');
  const dstPackets = count(flow.pkts_toclient, 'flow.pkts_toclient');
  const connState = text(flow.state, 'flow.state');
  const flags = text(tcp.tcp_flags, 'tcp.tcp_flags');
  const reported = isoTime(r.timestamp, 'timestamp');
  networkRecord.id = undefined;
  networkRecord.timestamp = started === undefined ? reported : isoTime(started, 'flow.start');
  networkRecord.duration_ms = started === undefined ? undefined : duration(started, flow.end);
  networkRecord.src_ip = src.text;
  networkRecord.src_port = src_port;
  networkRecord.src_mac = link(ether.src_mac, 'ether.src_mac', ether.src_macs, 'ether.src_macs');
  networkRecord.dst_ip = dst.text;
  networkRecord.dst_port = dst_port;
  networkRecord.dst_mac = link(ether.dest_mac, 'ether.dest_mac', ether.dest_macs, 'ether.dest_macs');
  networkRecord.transport = transport;
  networkRecord.app_protocol = appProtocol(text(r.app_proto, 'app_proto'));
  networkRecord.src_bytes = count(flow.bytes_toserver, 'flow.bytes_toserver');
  networkRecord.dst_bytes = count(flow.bytes_toclient, 'flow.bytes_toclient');
  networkRecord.src_packets = srcPackets;
  networkRecord.dst_packets = dstPackets;
  networkRecord.state =
    connState === undefined ? undefined : suricataState(connState, transport, dstPackets, flagsOf(tcp));
  networkRecord.conn_state = connState;
  networkRecord.history = flags;
  networkRecord.direction = direction(src, dst);
  networkRecord.community_id = text(r.community_id, 'community_id');
  networkRecord.connection_id = flowId;
  networkRecord.vlan = whole(list(r.vlan, 'vlan')?.[0], 'vlan', 4095);
  networkRecord.sensor = sensor ?? suricataSensor(r);
  networkRecord.source = 'suricata';
  networkRecord.severity = 'informational';
  return networkRecord;
}

const none: JsonObject = {};

/**
 * Returns a link-layer address. The record of a packet has one address per side; the record of a flow has a
 * list, of which the first address is stored.
 */
function link(one: unknown, field: string, all: unknown, listField: string): string | undefined {
  return mac(one, field) ?? mac(list(all, listField)?.[0], listField);
}

/** Computes the duration from both times to the microsecond, because `age` has whole seconds only. */
function duration(start: unknown, end: unknown): number | undefined {
  if (end === undefined || end === null) return undefined;
  const millis = isoTime(end, 'flow.end') - isoTime(start, 'flow.start');
  const micros = millis * 1000 + isoMicros(end as string) - isoMicros(start as string);
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
function flagsOf(tcp: JsonObject): FlowFlags {
  const byServer = flagBits(tcp.tcp_flags_tc, 'tcp.tcp_flags_tc');
  const all =
    (flagBits(tcp.tcp_flags, 'tcp.tcp_flags') ?? 0) |
    (byServer ?? 0) |
    (tcp.rst === true ? tcpFlags.rst : 0) |
    (tcp.fin === true ? tcpFlags.fin : 0);
  return { all, byServer };
}

function flagBits(value: unknown, field: string): number | undefined {
  const flags = text(value, field);
  if (flags === undefined) return undefined;
  const bits = bitsOf(flags);
  return bits >= 0 ? bits : reject(field, 'is not a number in hexadecimal');
}

const bitsOf = memoize((flags) => (/^[0-9a-f]{1,4}$/i.test(flags) ? Number.parseInt(flags, 16) : -1));
