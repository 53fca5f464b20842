import type { DnsRecord, WithSpans } from '../events/records.ts';
import { isAddress, parseIpv4 } from '../net/ip.ts';
import { type Answer, className, rcodeName, rcodeNameOf, rcodeOf, typeName, writeAnswers } from './dns-codes.ts';
import { field, numeric, single, values } from './ecs-document.ts';
import { type End, ecsDuration, ecsTransport, end, hasEnd } from './ecs-ends.ts';
import { ecsConnection, ecsTime } from './ecs-network.ts';
import { newDnsRecord } from './event-records.ts';
import { dnsRcode, flag, type JsonObject, object, text, timeToLive, whole } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { named, reject } from './rejection.ts';
import { senderOf } from './wrapped.ts';

const dnsRecord = newDnsRecord();

const dnsType = field('dns.type');
const id = field('dns.id');
const questionName = field('dns.question.name');
const questionType = field('dns.question.type');
const questionClass = field('dns.question.class');
const responseCode = field('dns.response_code');
const answersOf = field('dns.answers');
const resolved = field('dns.resolved_ip');
const headerFlags = field('dns.header_flags');
const communityId = field('network.community_id');

/** Packetbeat's fields for flags. Documents have these fields in addition to `dns.header_flags`, or instead of it. */
const flagOf = {
  AA: 'dns.flags.authoritative',
  TC: 'dns.flags.truncated_response',
  RD: 'dns.flags.recursion_desired',
  RA: 'dns.flags.recursion_available',
} as const;
const flagFields = Object.fromEntries(Object.entries(flagOf).map(([name, path]) => [name, field(path)])) as Record<
  keyof typeof flagOf,
  ReturnType<typeof field>
>;

/** Returns whether the document is about DNS. */
export function isEcsDns(d: JsonObject): boolean {
  return (
    questionName(d) !== undefined ||
    dnsType(d) !== undefined ||
    responseCode(d) !== undefined ||
    answersOf(d) !== undefined
  );
}

/**
 * Reads DNS in ECS (elastic.co/guide/en/ecs, "DNS fields"): an unanswered query, or (`dns.type: answer`) the
 * whole exchange. A document whose source is the server describes the packet of the response, and is read as a
 * response only.
 */
export function ecsDns(d: JsonObject, reading: ParseContext): WithSpans<DnsRecord> {
  const { client, server, turned } = ends(d, reading);
  const code = codeOf(d);
  const kind = kindOf(d, turned, code !== undefined);
  const type = text(single(questionType(d)), 'dns.question.type');
  const group = text(single(questionClass(d)), 'dns.question.class');
  dnsRecord.id = undefined;
  dnsRecord.timestamp = ecsTime(d);
  dnsRecord.src_ip = client.address.text;
  dnsRecord.src_port = client.port;
  dnsRecord.dst_ip = server.address.text;
  dnsRecord.dst_port = server.port;
  dnsRecord.transport = ecsTransport(d);
  dnsRecord.kind = kind;
  dnsRecord.transaction_id = whole(numeric(id(d)), 'dns.id', 65535);
  dnsRecord.query = text(single(questionName(d)), 'dns.question.name');
  dnsRecord.qtype = type === undefined ? undefined : typeName(type);
  dnsRecord.qclass = group === undefined ? undefined : className(group);
  dnsRecord.rcode = code?.number;
  dnsRecord.rcode_name = code?.name;
  dnsRecord.answers = answers(d);
  dnsRecord.authoritative = headerFlag(d, 'AA');
  dnsRecord.truncated = headerFlag(d, 'TC');
  dnsRecord.recursion_desired = headerFlag(d, 'RD');
  dnsRecord.recursion_available = headerFlag(d, 'RA');
  dnsRecord.rejected = code === undefined ? undefined : code.number === 5;
  dnsRecord.rtt_ms = kind === 'transaction' ? ecsDuration(d) : undefined;
  dnsRecord.community_id = text(single(communityId(d)), 'network.community_id');
  dnsRecord.connection_id = ecsConnection(d);
  dnsRecord.sensor = reading.sensor ?? senderOf(d);
  dnsRecord.source = 'ecs';
  dnsRecord.severity = 'informational';
  return dnsRecord;
}

/** Ports of DNS, NetBIOS names, mDNS and LLMNR servers. */
const serverPorts: ReadonlySet<unknown> = new Set([53, 137, 5353, 5355]);

/**
 * Returns client and server of the exchange, from `client` and `server` if present. Otherwise, the source is the server
 * if only the source port is a server port; in all other cases, the source is the client.
 */
function ends(
  d: JsonObject,
  reading: ParseContext,
): { readonly client: End; readonly server: End; readonly turned: boolean } {
  if (hasEnd(d, 'client') && hasEnd(d, 'server')) {
    return { client: end(d, 'client', reading), server: end(d, 'server', reading), turned: false };
  }
  const source = end(d, 'source', reading);
  const destination = end(d, 'destination', reading);
  const turned = serverPorts.has(source.port) && !serverPorts.has(destination.port);
  return turned ? { client: destination, server: source, turned } : { client: source, server: destination, turned };
}

const kinds: ReadonlyMap<unknown, DnsRecord['kind']> = new Map<unknown, DnsRecord['kind']>([
  ['query', 'query'],
  ['request', 'query'],
  ['answer', 'transaction'],
  ['response', 'response'],
]);

function kindOf(d: JsonObject, turned: boolean, answered: boolean): DnsRecord['kind'] {
  const type = single(dnsType(d));
  const given = type === undefined ? (answered ? 'transaction' : 'query') : kinds.get(type);
  if (given === undefined) return reject('dns.type', `is ${named(type)}, not one of ${[...kinds.keys()].join(', ')}`);
  return turned && given === 'transaction' ? 'response' : given;
}

function codeOf(d: JsonObject): { readonly number: number | undefined; readonly name: string } | undefined {
  const given = numeric(responseCode(d));
  if (typeof given === 'number') {
    const number = dnsRcode(given, 'dns.response_code') as number;
    return { number, name: rcodeNameOf(number) };
  }
  const name = text(given, 'dns.response_code');
  return name === undefined ? undefined : { number: rcodeOf(name), name: rcodeName(name) };
}

/** Returns whether a flag is set. `dns.header_flags` lists the flags that are set. */
function headerFlag(d: JsonObject, name: keyof typeof flagOf): boolean | undefined {
  const set = headerFlags(d);
  if (set === undefined) return flag(single(flagFields[name](d)), flagOf[name]);
  return values(set).includes(name);
}

function answers(d: JsonObject): string | undefined {
  const given = values(answersOf(d));
  if (given.length > 0) return writeAnswers(given.map(answer));
  return writeAnswers(
    values(resolved(d)).map((one) => {
      const data = text(one, 'dns.resolved_ip') ?? reject('dns.resolved_ip', 'is empty');
      if (!isAddress(data)) reject('dns.resolved_ip', `is ${named(data)}, not an IP address`);
      return { type: parseIpv4(data) >= 0 ? 'A' : 'AAAA', ttl: undefined, data };
    }),
  );
}

function answer(value: unknown): Answer {
  const given = object(value, 'dns.answers') ?? reject('dns.answers', 'contains null');
  const type = text(single(given.type), 'dns.answers.type');
  const data = single(given.data);
  return {
    type: type === undefined ? undefined : typeName(type),
    ttl: timeToLive(numeric(given.ttl), 'dns.answers.ttl'),
    data: text(data, 'dns.answers.data') ?? '',
  };
}
