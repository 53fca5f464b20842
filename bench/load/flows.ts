/** Formats Zeek's conn lines as other sensors and shippers do: one text per connection, without a line feed. */
import type { Flow } from '../../scripts/traffic/activity.ts';
import { eveLines } from '../../scripts/traffic/eve.ts';
import { base62 } from '../../scripts/traffic/random.ts';

/** A line of `connLines`. */
interface Conn {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.orig_p': number;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
  readonly proto: 'tcp' | 'udp';
  readonly service?: string;
  readonly duration: number;
  readonly orig_bytes: number;
  readonly resp_bytes: number;
  readonly conn_state: Flow['state'];
  readonly history: string;
  readonly orig_pkts: number;
  readonly orig_ip_bytes: number;
  readonly resp_pkts: number;
  readonly resp_ip_bytes: number;
}

const read = (line: string) => JSON.parse(line) as Conn;

/** Returns Suricata's record of the flow. Its id has fifteen digits, the last four of which are 0. */
export function eveFlow(line: string): string {
  const conn = read(line);
  const flow: Flow = {
    kind: 'flow',
    start: conn.ts * 1000,
    durationMs: conn.duration * 1000,
    src: conn['id.orig_h'],
    srcPort: conn['id.orig_p'],
    dst: conn['id.resp_h'],
    dstPort: conn['id.resp_p'],
    transport: conn.proto,
    ...(conn.service !== undefined && { service: conn.service }),
    state: conn.conn_state,
    history: conn.history,
    srcBytes: conn.orig_bytes,
    dstBytes: conn.resp_bytes,
    srcPackets: conn.orig_pkts,
    dstPackets: conn.resp_pkts,
    uid: conn.uid,
    flowId: (10_000_000_000 + numberOf(conn.uid.slice(1, 7))) * 10_000,
  };
  return eveLines(flow, { dnsVersion: 3, iface: 'ens3' })[0]!.line;
}

/** Converts six characters to a number below 57 × 10^9. */
function numberOf(text: string): number {
  return Array.from(text).reduce((sum, letter) => sum * base62.length + base62.indexOf(letter), 0);
}

/** Returns a flow in the Elastic Common Schema, from a shipper that reports flows at their end. */
export function ecsFlow(line: string): string {
  const conn = read(line);
  const [start, end] = [iso(conn.ts), iso(conn.ts + conn.duration)];
  return JSON.stringify({
    '@timestamp': end,
    ecs: { version: '8.11.0' },
    event: {
      kind: 'event',
      category: ['network'],
      dataset: 'flow',
      type: ['connection', 'end'],
      action: 'network_flow',
      id: conn.uid,
      start,
      end,
      duration: Math.round(conn.duration * 1e9),
    },
    network: {
      type: 'ipv4',
      transport: conn.proto,
      ...(conn.service !== undefined && { protocol: conn.service }),
      bytes: conn.orig_ip_bytes + conn.resp_ip_bytes,
      packets: conn.orig_pkts + conn.resp_pkts,
    },
    source: {
      ip: conn['id.orig_h'],
      port: conn['id.orig_p'],
      bytes: conn.orig_ip_bytes,
      packets: conn.orig_pkts,
    },
    destination: {
      ip: conn['id.resp_h'],
      port: conn['id.resp_p'],
      bytes: conn.resp_ip_bytes,
      packets: conn.resp_pkts,
    },
    observer: { name: 'tap-1', type: 'probe' },
  });
}

const states = { SF: 'closed', S0: 'attempt', REJ: 'refused', RSTO: 'reset', RSTR: 'reset', OTH: 'traffic' };

/** Returns an event in Candor's native format. */
export function nativeFlow(line: string): string {
  const conn = read(line);
  return JSON.stringify({
    type: 'network_event',
    timestamp: iso(conn.ts),
    duration_ms: conn.duration * 1000,
    src_ip: conn['id.orig_h'],
    src_port: conn['id.orig_p'],
    dst_ip: conn['id.resp_h'],
    dst_port: conn['id.resp_p'],
    transport: conn.proto,
    app_protocol: conn.service,
    src_bytes: conn.orig_ip_bytes,
    dst_bytes: conn.resp_ip_bytes,
    src_packets: conn.orig_pkts,
    dst_packets: conn.resp_pkts,
    state: states[conn.conn_state],
    connection_id: conn.uid,
    sensor: 'probe-1',
  });
}

const columns = [
  ['ts', 'time'],
  ['uid', 'string'],
  ['id.orig_h', 'addr'],
  ['id.orig_p', 'port'],
  ['id.resp_h', 'addr'],
  ['id.resp_p', 'port'],
  ['proto', 'enum'],
  ['service', 'string'],
  ['duration', 'interval'],
  ['orig_bytes', 'count'],
  ['resp_bytes', 'count'],
  ['conn_state', 'string'],
  ['local_orig', 'bool'],
  ['local_resp', 'bool'],
  ['missed_bytes', 'count'],
  ['history', 'string'],
  ['orig_pkts', 'count'],
  ['orig_ip_bytes', 'count'],
  ['resp_pkts', 'count'],
  ['resp_ip_bytes', 'count'],
] as const;

/** The header lines of a conn.log in Zeek's own format. */
export const tsvHeader = [
  '#separator \\x09',
  '#set_separator\t,',
  '#empty_field\t(empty)',
  '#unset_field\t-',
  '#path\tconn',
  `#fields\t${columns.map(([name]) => name).join('\t')}`,
  `#types\t${columns.map(([, type]) => type).join('\t')}`,
].join('\n');

export function tsvRow(line: string): string {
  const record = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return columns.map(([name, type]) => cell(record[name], type)).join('\t');
}

function cell(value: unknown, type: (typeof columns)[number][1]): string {
  if (value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'T' : 'F';
  return typeof value === 'number' && (type === 'time' || type === 'interval') ? value.toFixed(6) : String(value);
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
