import type { MatchEnds } from '../events/correlation-fact.ts';
import { isAddress } from '../events/ip.ts';
import type { JsonObject, RecordKind } from './sigma/record.ts';
import type { RuleSet } from './sigma/rule-set.ts';

/** Where kinds of record have the name that they are about, by what rules call it. */
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
};

const longestName = 255;
const longestTransport = 32;

/**
 * Whom a record is about. It is read of the record as it came, which nobody may have checked: what isn't an address, a
 * port or a name is left out.
 */
export function endsOf({ reader }: Pick<RuleSet, 'reader'>, kind: RecordKind, record: JsonObject): MatchEnds {
  const read = (field: string): unknown => reader(kind, field)(record);
  const name = names[kind];
  const src_ip = address(read('src_ip'));
  const dst_ip = address(read('dst_ip'));
  const src_port = port(read('src_port'));
  const dst_port = port(read('dst_port'));
  const transport = word(record.proto ?? record.transport);
  const domain = name === undefined ? undefined : domainOf(read(name));
  return {
    ...(src_ip === undefined ? {} : { src_ip }),
    ...(src_port === undefined ? {} : { src_port }),
    ...(dst_ip === undefined ? {} : { dst_ip }),
    ...(dst_port === undefined ? {} : { dst_port }),
    ...(transport === undefined ? {} : { transport }),
    ...(domain === undefined ? {} : { domain }),
  };
}

function address(value: unknown): string | undefined {
  return typeof value === 'string' && isAddress(value) ? value : undefined;
}

function port(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535
    ? value
    : undefined;
}

function word(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[\w-]+$/.test(value) || value.length > longestTransport)
    return undefined;
  const transport = value.toLowerCase();
  return transport === 'ipv6-icmp' || transport === 'icmpv6' ? 'icmp' : transport;
}

function domainOf(value: unknown): string | undefined {
  const name = Array.isArray(value) ? value[0] : value;
  if (typeof name !== 'string' || name === '' || name.length > longestName || isAddress(name))
    return undefined;
  return name.toWellFormed();
}
