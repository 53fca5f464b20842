import type { MatchEnds } from '../events/correlation-fact.ts';
import { isAddress } from '../net/ip.ts';
import type { Accessor, JsonObject, RecordKind } from './sigma/record.ts';
import type { RuleSet } from './sigma/rule-set.ts';

/** The rule field that contains the domain name of a record, by kind. */
const names: Readonly<Record<string, string>> = {
  'zeek.dns': 'query',
  'suricata.dns': 'dns.question.name',
  'candor.dns_event': 'query',
  'zeek.http': 'host',
  'suricata.http': 'http.hostname',
  'zeek.ssl': 'server_name',
  'zeek.quic': 'server_name',
  'suricata.tls': 'tls.sni',
  'suricata.quic': 'quic.sni',
  'ecs.dns': 'dns.question.name',
  'ecs.http': 'url.domain',
  'ecs.tls': 'tls.client.server_name',
};

const longestName = 255;
const longestTransport = 32;

/**
 * Returns a function that reads the addresses, ports and name of a record. Records may be unvalidated, so invalid
 * addresses, ports and names are left out.
 */
export function endsReader({ reader }: Pick<RuleSet, 'reader'>, kind: RecordKind): (record: JsonObject) => MatchEnds {
  const srcIp = reader(kind, 'src_ip');
  const dstIp = reader(kind, 'dst_ip');
  const srcPort = reader(kind, 'src_port');
  const dstPort = reader(kind, 'dst_port');
  const transportOf: Accessor = kind.startsWith('ecs.')
    ? reader(kind, 'network.transport')
    : ({ proto, transport }) => proto ?? transport;
  const name = names[kind];
  const nameOf: Accessor = name === undefined ? () => undefined : reader(kind, name);
  return (record) => {
    const ends: { -readonly [End in keyof MatchEnds]: MatchEnds[End] } = {};
    const src_ip = address(srcIp(record));
    if (src_ip !== undefined) ends.src_ip = src_ip;
    const src_port = port(srcPort(record));
    if (src_port !== undefined) ends.src_port = src_port;
    const dst_ip = address(dstIp(record));
    if (dst_ip !== undefined) ends.dst_ip = dst_ip;
    const dst_port = port(dstPort(record));
    if (dst_port !== undefined) ends.dst_port = dst_port;
    const transport = word(transportOf(record));
    if (transport !== undefined) ends.transport = transport;
    const domain = domainOf(nameOf(record));
    if (domain !== undefined) ends.domain = domain;
    return ends;
  };
}

function address(value: unknown): string | undefined {
  return typeof value === 'string' && isAddress(value) ? value : undefined;
}

function port(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535 ? value : undefined;
}

function word(value: unknown): string | undefined {
  if (value === 'tcp' || value === 'udp') return value;
  if (typeof value !== 'string' || value.length > longestTransport || !/^[\w-]+$/.test(value)) return undefined;
  const transport = value.toLowerCase();
  return transport === 'ipv6-icmp' || transport === 'icmpv6' ? 'icmp' : transport;
}

function domainOf(value: unknown): string | undefined {
  const name = Array.isArray(value) ? value[0] : value;
  if (typeof name !== 'string' || name === '' || name.length > longestName || isAddress(name)) return undefined;
  return name.toWellFormed();
}
