/**
 * Converts Zeek lines to the attributes that the contract specifies, and evaluates filters over them. A slow and simple
 * second implementation, written from `api.md` alone, as a reference for the service.
 */
import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { getDomain } from 'tldts';

export type Attributes = Readonly<Record<string, unknown>>;
type Line = Readonly<Record<string, unknown>>;

const states: Record<string, string> = {
  S0: 'attempt',
  S1: 'open',
  SF: 'closed',
  REJ: 'refused',
  S2: 'failed',
  S3: 'failed',
  SH: 'failed',
  SHR: 'failed',
  RSTO: 'reset',
  RSTR: 'reset',
  RSTOS0: 'reset',
  RSTRH: 'reset',
  OTH: 'traffic',
};

const words: Record<string, string> = { ssl: 'tls', krb: 'krb5', krb_tcp: 'krb5', dce_rpc: 'dcerpc' };

export function protocols(service: string | undefined) {
  const names = (service ?? '')
    .toLowerCase()
    .split(',')
    .filter((name) => name !== '' && !name.startsWith('-'));
  const app_protocols = [...new Set(names.map((name) => words[name] ?? name))];
  return app_protocols.length === 0 ? {} : { app_protocol: app_protocols[0], app_protocols };
}

/** Returns the state of a connection. A handshake that is missing in the history did not happen. */
export function stateOf({ proto, conn_state, history }: Line): string | undefined {
  const done = ['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR'].includes(conn_state as string);
  if (proto === 'tcp' && done && typeof history === 'string' && !/[hd]/.test(history))
    return history.includes('r') ? 'refused' : 'attempt';
  return states[conn_state as string];
}

export function zeekNetworkEvent(line: string, sensor: string | undefined): Attributes {
  const r = JSON.parse(line) as Line;
  const start = epochMillis(line);
  const duration = milliseconds(r.duration);
  const state = r.conn_state === undefined ? undefined : stateOf(r);
  return known({
    ...shared(r, start, sensor),
    end_time: duration === undefined ? undefined : iso(Math.round(start + duration)),
    duration_ms: duration,
    ...protocols(r.service as string | undefined),
    src_bytes: r.orig_ip_bytes,
    dst_bytes: r.resp_ip_bytes,
    src_payload_bytes: r.orig_bytes,
    dst_payload_bytes: r.resp_bytes,
    src_packets: r.orig_pkts,
    dst_packets: r.resp_pkts,
    missed_bytes: r.missed_bytes,
    state,
    conn_state: r.conn_state,
    history: r.history,
    direction: direction(r['id.orig_h'] as string, r['id.resp_h'] as string),
  });
}

export function zeekDnsEvent(line: string, sensor: string | undefined): Attributes {
  const r = JSON.parse(line) as Line;
  const query = (r.query as string) || undefined;
  const qtype = r.qtype_name === '*' ? 'ANY' : r.qtype_name;
  const classes: Record<string, string> = { C_INTERNET: 'IN', C_CHAOS: 'CH' };
  return known({
    ...shared(r, epochMillis(line), sensor),
    kind: r.rcode === undefined ? 'query' : 'transaction',
    transaction_id: r.trans_id,
    query,
    registered_domain: query === undefined ? undefined : registeredDomain(query),
    qtype,
    qclass: r.qclass_name === undefined ? undefined : classes[r.qclass_name as string],
    rcode: r.rcode,
    rcode_name: r.rcode_name,
    answers: (r.answers as string[] | undefined)?.map((data, n) => ({
      ...(answerType(data, qtype as string) === undefined ? {} : { type: answerType(data, qtype as string) }),
      ttl: (r.TTLs as number[])[n],
      data,
    })),
    authoritative: r.AA,
    truncated: r.TC,
    recursion_desired: r.RD,
    recursion_available: r.RA,
    rejected: r.rejected,
    rtt_ms: milliseconds(r.rtt),
  });
}

function shared(r: Line, start: number, sensor: string | undefined) {
  return {
    timestamp: iso(start),
    src_ip: r['id.orig_h'],
    src_port: r['id.orig_p'],
    dst_ip: r['id.resp_h'],
    dst_port: r['id.resp_p'],
    transport: r.proto,
    community_id: communityId(r),
    connection_id: r.uid,
    sensor: sensor ?? r._node_name,
    source: 'zeek',
    severity: 'informational',
  };
}

function answerType(data: string, qtype: string): string | undefined {
  if (qtype === 'A' || qtype === 'AAAA') return isIP(data) === 4 ? 'A' : isIP(data) === 6 ? 'AAAA' : 'CNAME';
  return qtype;
}

function registeredDomain(query: string): string | undefined {
  const name = query.toLowerCase().replace(/\.$/, '');
  return getDomain(name, { extractHostname: false, validateHostname: false }) ?? undefined;
}

/** Computes milliseconds from the digits in the line, because a double would round them. */
function epochMillis(line: string): number {
  const [, seconds, fraction = ''] = /"ts":(\d+)(?:\.(\d+))?/.exec(line) ?? [];
  return Number(seconds + fraction.padEnd(3, '0').slice(0, 3));
}

function milliseconds(seconds: unknown): number | undefined {
  return seconds === undefined ? undefined : Number(((seconds as number) * 1000).toFixed(3));
}

const iso = (time: number) => new Date(time).toISOString();

/** Removes unknown values; an empty text is unknown. */
function known(attributes: Record<string, unknown>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== ''));
}

const home = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'];

function direction(src: string, dst: string): string {
  const [from, to] = [src, dst].map((address) => home.some((block) => networkOf(block)(address)));
  if (from) return to ? 'internal' : 'outbound';
  return to ? 'inbound' : 'external';
}

/**
 * Cached tests by network, each with cached results by address: 100,000 events have a few thousand addresses.
 */
const networks = new Map<string, (address: string) => boolean>();

/**
 * Returns a function that tests whether an address equals this address, or is in this CIDR block of the same
 * family.
 */
function networkOf(network: string): (address: string) => boolean {
  const known = networks.get(network);
  if (known !== undefined) return known;
  const [base = '', prefix] = network.split('/');
  const family = (text: string) => (isIP(text) === 6 ? 'ipv6' : 'ipv4');
  const list = new BlockList();
  list.addSubnet(base, Number(prefix ?? (isIP(base) === 6 ? 128 : 32)), family(base));
  const found = new Map<string, boolean>();
  const contains = (address: string): boolean => {
    let inList = found.get(address);
    if (inList === undefined) {
      inList = family(address) === family(base) && list.check(address, family(address));
      found.set(address, inList);
    }
    return inList;
  };
  networks.set(network, contains);
  return contains;
}

/** ICMP messages that answer each other, by IP protocol: type → type. */
const answers: Record<number, Record<number, number>> = {
  1: { 0: 8, 8: 0, 9: 10, 10: 9, 13: 14, 14: 13, 15: 16, 16: 15, 17: 18, 18: 17 },
  58: { 128: 129, 129: 128, 130: 131, 131: 130, 133: 134, 134: 133, 135: 136, 136: 135 },
};

/** Computes the community ID (github.com/corelight/community-id-spec, version 1, seed 0). */
function communityId(r: Line): string | undefined {
  const [src, dst] = [bytesOf(r['id.orig_h'] as string), bytesOf(r['id.resp_h'] as string)];
  const srcPort = r['id.orig_p'] as number;
  const icmp = src.length === 4 ? 1 : 58;
  const protocol = { tcp: 6, udp: 17, icmp }[r.proto as string];
  if (protocol === undefined) return undefined;
  const counterpart = r.proto === 'icmp' ? answers[icmp]?.[srcPort] : undefined;
  const dstPort = counterpart ?? (r['id.resp_p'] as number);
  const oneWay = r.proto === 'icmp' && counterpart === undefined;
  const order = Buffer.compare(src, dst) || srcPort - dstPort;
  const [a, b, aPort, bPort] = oneWay || order < 0 ? [src, dst, srcPort, dstPort] : [dst, src, dstPort, srcPort];
  const tail = Buffer.from([protocol, 0, aPort >> 8, aPort & 255, bPort >> 8, bPort & 255]);
  const hash = createHash('sha1').update(Buffer.concat([Buffer.alloc(2), a, b, tail]));
  return `1:${hash.digest('base64')}`;
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** Fields that `q` searches. */
const searched = {
  network: ['src_mac', 'dst_mac', 'transport', 'app_protocol', 'sensor'],
  dns: ['query', 'qtype', 'rcode_name', 'sensor'],
} as const;

type Test = (event: Attributes) => boolean;

/** Returns the attribute that a filter `min_…` or `max_…` bounds; other filters unchanged. */
export const attributeOf = (filter: string): string => filter.replace(/^(?:min|max)_(?!severity$)/, '');

const severities = ['informational', 'low', 'medium', 'high', 'critical'];

/**
 * Returns a function that tests events against the value of a filter; the value is parsed once, not for each
 * event.
 */
export function matcher(table: 'network' | 'dns', filter: string, value: string): Test {
  const attribute = attributeOf(filter);
  if (attribute !== filter) {
    const limit = /_at$|^timestamp$|^end_time$/.test(attribute) ? timeOf(value) : Number(value);
    const isWithin = (own: number) => (filter.startsWith('min_') ? own >= limit : own <= limit);
    return (event) => {
      const own = event[attribute];
      return own !== undefined && isWithin(typeof own === 'string' ? Date.parse(own) : (own as number));
    };
  }
  switch (filter) {
    case 'ip': {
      const contains = networkOf(value);
      return (event) => contains(event.src_ip as string) || contains(event.dst_ip as string);
    }
    case 'src_ip':
    case 'dst_ip': {
      const contains = networkOf(value);
      return (event) => contains(event[filter] as string);
    }
    // Times of events have one format, so their texts can be compared.
    case 'from': {
      const from = iso(timeOf(value));
      return (event) => (event.timestamp as string) >= from;
    }
    case 'to': {
      const to = iso(timeOf(value));
      return (event) => (event.timestamp as string) < to;
    }
    case 'timestamp':
    case 'end_time':
    case 'received_at': {
      const time = iso(timeOf(value));
      return (event) => event[filter] === time;
    }
    case 'min_severity': {
      const least = severities.indexOf(value);
      return (event) => severities.indexOf(event.severity as string) >= least;
    }
    case 'asset_id':
    case 'src_asset_id':
    case 'dst_asset_id':
      return () => false;
    case 'query':
    case 'registered_domain': {
      const name = value.toLowerCase();
      return (event) => (event[filter] as string | undefined)?.toLowerCase() === name;
    }
    case 'app_protocol': {
      const name = words[value.toLowerCase()] ?? value.toLowerCase();
      return (event) => ((event.app_protocols as string[] | undefined) ?? []).includes(name);
    }
    case 'answer':
      return (event) => answersOf(event).includes(value);
    case 'q': {
      const text = /^"(.+)"$/s.exec(value)?.[1] ?? value;
      const part = text.toLowerCase();
      const contains = isIP(text.split('/')[0] ?? '') > 0 ? matcher(table, 'ip', text) : () => false;
      const isIn = (name: unknown) => (name as string | undefined)?.toLowerCase().includes(part) === true;
      return (event) =>
        searched[table].some((name) => isIn(name === 'app_protocol' ? event.app_protocols?.toString() : event[name])) ||
        answersOf(event).some(isIn) ||
        event.connection_id === text ||
        contains(event);
    }
    default:
      return (event) => {
        const own = event[filter];
        return own !== undefined && (typeof own === 'string' ? own : String(own)) === value;
      };
  }
}

function answersOf(event: Attributes): string[] {
  return ((event.answers as { data: string }[] | undefined) ?? []).map(({ data }) => data);
}

function timeOf(value: string): number {
  return /^\d+$/.test(value) ? Number(value) : Date.parse(value);
}
