import { joinedProtocols, maxAppProtocols } from '../contract/app-protocols.ts';
import { connectionStates, dnsKinds, severities } from '../contract/vocabulary.ts';
import { sensorState } from '../events/connection-state.ts';
import { maxTime } from '../events/format/columns.ts';
import type { DnsRecord, NetworkRecord, Table, WithSpans } from '../events/records.ts';
import { direction } from './addresses.ts';
import { type Answer, rcodeName, rcodeNameOf, rcodeOf, writeAnswers } from './dns-codes.ts';
import { newDnsRecord, newNetworkRecord } from './event-records.ts';
import {
  choice,
  count,
  dnsRcode,
  flag,
  isoTime,
  type JsonObject,
  list,
  mac,
  milliseconds,
  object,
  port,
  requiredText,
  text,
  timeToLive,
  whole,
} from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { named, reject } from './rejection.ts';
import { requiredTransport } from './transport.ts';

const networkRecord = newNetworkRecord();
const dnsRecord = newDnsRecord();

/**
 * Reads one event in Candor's own format, NetworkEventInput or DnsEventInput in the contract. An unknown field
 * is refused, because a misspelt field would otherwise be lost silently. If the endpoint determines the type,
 * `table` is set, and the record's field `type` is optional. Returns the kind of the record; undefined, without
 * any effect, for other records.
 */
export function readNative(record: JsonObject, table: Table | undefined, reading: ParseContext): string | undefined {
  const type = record.type ?? (table === undefined ? undefined : types[table]);
  if (type !== 'network_event' && type !== 'dns_event') {
    if (table === undefined) return undefined;
    return reject('type', `is ${named(type)}, not ${types[table]}`);
  }
  if (table !== undefined && type !== types[table]) return reject('type', `is ${named(type)}, not ${types[table]}`);
  if (type === 'network_event') reading.batch.addNetwork(nativeNetwork(record, reading));
  else reading.batch.addDns(nativeDns(record, reading));
  return `candor.${type}`;
}

const types = { network: 'network_event', dns: 'dns_event' } as const satisfies Record<Table, string>;

/** Names of fields that the service determines. */
const determined: ReadonlySet<string> = new Set(['direction', 'source']);
/** Returns the names that senders may use: the names in the record, and `more`. */
const sendable = (record: object, ...more: string[]): ReadonlySet<string> =>
  new Set([...Object.keys(record).filter((name) => !determined.has(name)), ...more]);
const networkFields = sendable(networkRecord, 'type', 'app_protocols');
const dnsFields = sendable(dnsRecord, 'type');

function nativeNetwork(r: JsonObject, { addresses, sensor }: ParseContext): WithSpans<NetworkRecord> {
  onlyKnown(r, networkFields);
  const src = addresses.required(r.src_ip, 'src_ip');
  const dst = addresses.required(r.dst_ip, 'dst_ip');
  const timestamp = isoTime(r.timestamp, 'timestamp');
  networkRecord.id = uuid(r.id, 'id');
  networkRecord.timestamp = timestamp;
  networkRecord.duration_ms = duration(r.duration_ms, timestamp);
  networkRecord.src_ip = src.text;
  networkRecord.src_port = port(r.src_port, 'src_port');
  networkRecord.src_mac = mac(r.src_mac, 'src_mac');
  networkRecord.dst_ip = dst.text;
  networkRecord.dst_port = port(r.dst_port, 'dst_port');
  networkRecord.dst_mac = mac(r.dst_mac, 'dst_mac');
  networkRecord.transport = requiredTransport(r.transport, 'transport');
  networkRecord.app_protocol = joinedProtocols(protocolsOf(r));
  networkRecord.src_bytes = count(r.src_bytes, 'src_bytes');
  networkRecord.dst_bytes = count(r.dst_bytes, 'dst_bytes');
  networkRecord.src_payload_bytes = count(r.src_payload_bytes, 'src_payload_bytes');
  networkRecord.dst_payload_bytes = count(r.dst_payload_bytes, 'dst_payload_bytes');
  networkRecord.src_packets = count(r.src_packets, 'src_packets');
  networkRecord.dst_packets = count(r.dst_packets, 'dst_packets');
  networkRecord.missed_bytes = count(r.missed_bytes, 'missed_bytes');
  const connState = text(r.conn_state, 'conn_state');
  const history = text(r.history, 'history');
  networkRecord.state =
    choice(r.state, 'state', connectionStates) ??
    sensorState(connState, networkRecord.transport, history, networkRecord.dst_packets);
  networkRecord.conn_state = connState;
  networkRecord.history = history;
  networkRecord.direction = direction(src, dst);
  networkRecord.community_id = text(r.community_id, 'community_id');
  networkRecord.connection_id = text(r.connection_id, 'connection_id');
  networkRecord.vlan = whole(r.vlan, 'vlan', 4095);
  networkRecord.sensor = sensor ?? text(r.sensor, 'sensor');
  networkRecord.source = 'native';
  networkRecord.severity = choice(r.severity, 'severity', severities) ?? 'informational';
  return networkRecord;
}

/** Merges the list of protocols and the single protocol. */
function protocolsOf(r: JsonObject): string[] {
  const all = list(r.app_protocols, 'app_protocols') ?? [];
  if (all.length > maxAppProtocols) reject('app_protocols', `must have at most ${maxAppProtocols} items`);
  const first = text(r.app_protocol, 'app_protocol') ?? '';
  return [first, ...all.map((one) => text(one, 'app_protocols') ?? '')];
}

function nativeDns(r: JsonObject, { addresses, sensor }: ParseContext): WithSpans<DnsRecord> {
  onlyKnown(r, dnsFields);
  const src = addresses.required(r.src_ip, 'src_ip');
  const dst = addresses.required(r.dst_ip, 'dst_ip');
  const code = text(r.rcode_name, 'rcode_name');
  const rcode = dnsRcode(r.rcode, 'rcode') ?? (code === undefined ? undefined : rcodeOf(code));
  dnsRecord.id = uuid(r.id, 'id');
  dnsRecord.timestamp = isoTime(r.timestamp, 'timestamp');
  dnsRecord.src_ip = src.text;
  dnsRecord.src_port = port(r.src_port, 'src_port');
  dnsRecord.dst_ip = dst.text;
  dnsRecord.dst_port = port(r.dst_port, 'dst_port');
  dnsRecord.transport = requiredTransport(r.transport, 'transport');
  dnsRecord.kind = choice(r.kind, 'kind', dnsKinds) ?? reject('kind', 'is missing');
  dnsRecord.transaction_id = whole(r.transaction_id, 'transaction_id', 65535);
  dnsRecord.query = text(r.query, 'query');
  dnsRecord.qtype = text(r.qtype, 'qtype')?.toUpperCase();
  dnsRecord.qclass = text(r.qclass, 'qclass')?.toUpperCase();
  dnsRecord.rcode = rcode;
  dnsRecord.rcode_name = code === undefined ? (rcode === undefined ? undefined : rcodeNameOf(rcode)) : rcodeName(code);
  dnsRecord.answers = writeAnswers((list(r.answers, 'answers') ?? []).map(answer));
  dnsRecord.authoritative = flag(r.authoritative, 'authoritative');
  dnsRecord.truncated = flag(r.truncated, 'truncated');
  dnsRecord.recursion_desired = flag(r.recursion_desired, 'recursion_desired');
  dnsRecord.recursion_available = flag(r.recursion_available, 'recursion_available');
  dnsRecord.rejected = flag(r.rejected, 'rejected');
  dnsRecord.rtt_ms = milliseconds(r.rtt_ms, 'rtt_ms');
  dnsRecord.community_id = text(r.community_id, 'community_id');
  dnsRecord.connection_id = text(r.connection_id, 'connection_id');
  dnsRecord.sensor = sensor ?? text(r.sensor, 'sensor');
  dnsRecord.source = 'native';
  dnsRecord.severity = choice(r.severity, 'severity', severities) ?? 'informational';
  return dnsRecord;
}

function duration(value: unknown, timestamp: number): number | undefined {
  const given = milliseconds(value, 'duration_ms');
  if (given === undefined || timestamp + given <= maxTime) return given;
  return reject('duration_ms', `is ${given}, which ends after the year 9999`);
}

const answerFields: ReadonlySet<string> = new Set(['type', 'ttl', 'data']);

function answer(value: unknown): Answer {
  const given = object(value, 'answers') ?? reject('answers', 'contains null');
  onlyKnown(given, answerFields, 'answers.');
  return {
    type: text(given.type, 'answers.type')?.toUpperCase(),
    ttl: timeToLive(given.ttl, 'answers.ttl'),
    data: given.data === '' ? '' : requiredText(given.data, 'answers.data'),
  };
}

function onlyKnown(record: JsonObject, fields: ReadonlySet<string>, prefix = ''): void {
  // Object.keys would create a list of 130 bytes for every record, and parsed objects have no inherited names.
  for (const name in record) {
    if (!fields.has(name)) reject(`${prefix}${name.slice(0, 100)}`.toWellFormed(), 'is not an accepted field');
  }
}

function uuid(value: unknown, field: string): string | undefined {
  const given = text(value, field);
  if (given === undefined) return undefined;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given)) return given.toLowerCase();
  return reject(field, `is ${named(given)}, not a UUID`);
}
