import { TextSpan } from '../events/format/text-span.ts';
import type { DnsRecord, WithSpans } from '../events/records.ts';
import { type Answer, rcodeName, rcodeOf, typeName, writeAnswers } from './dns-codes.ts';
import { newDnsRecord } from './event-records.ts';
import { flag, isObject, type JsonObject, list, object, port, text, timeToLive, whole } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import type { RecordFields } from './record-fields.ts';
import { named, reject } from './rejection.ts';
import { eveSlots, requiredTransport, suricataSensor } from './suricata-envelope.ts';

const dnsRecord = newDnsRecord();
const communityId = new TextSpan();

/**
 * Reads a DNS message of EVE in any of three formats (doc/userguide/output/eve):
 *
 * 1  (up to Suricata 6) query and answer; one record per answer, with its rrname, rrtype, ttl, rdata
 * 2  (Suricata 5 to 8) query and answer; the answers in `answers`, the question in rrname and rrtype
 * 3  (from Suricata 8) request and response; the question in `queries`; the source of a response is the responder
 *
 * A request has no response code, even if the header in format 3 contains one.
 */
export function suricataDns(
  r: RecordFields,
  record: JsonObject,
  { addresses, sensor }: ParseContext,
): WithSpans<DnsRecord> {
  const dns = object(record.dns, 'dns') ?? reject('dns', 'is missing');
  const kind = kinds.get(dns.type) ?? reject('dns.type', `is ${named(dns.type)}, not a type of DNS message`);
  const question = first(dns.queries) ?? dns;
  const flags = headerFlags(dns.flags);
  const code = kind === 'query' ? undefined : text(dns.rcode, 'dns.rcode');
  const sender = r.requiredAddress(eveSlots.src_ip, 'src_ip', addresses);
  const receiver = r.requiredAddress(eveSlots.dest_ip, 'dest_ip', addresses);
  const senderPort = port(r.value(eveSlots.src_port), 'src_port');
  const receiverPort = port(r.value(eveSlots.dest_port), 'dest_port');
  const reply = kind === 'response' && sentByServer(dns, senderPort, receiverPort);
  const type = text(question.rrtype, 'dns.rrtype');
  dnsRecord.id = undefined;
  dnsRecord.timestamp = r.isoTime(eveSlots.timestamp, 'timestamp');
  dnsRecord.src_ip = reply ? receiver.text : sender.text;
  dnsRecord.src_port = reply ? receiverPort : senderPort;
  dnsRecord.dst_ip = reply ? sender.text : receiver.text;
  dnsRecord.dst_port = reply ? senderPort : receiverPort;
  dnsRecord.transport = requiredTransport(r);
  dnsRecord.kind = kind;
  dnsRecord.transaction_id = whole(dns.id, 'dns.id', 65535);
  dnsRecord.query = text(question.rrname, 'dns.rrname');
  dnsRecord.qtype = type === undefined ? undefined : typeName(type);
  dnsRecord.rcode = code === undefined ? undefined : rcodeOf(code);
  dnsRecord.rcode_name = code === undefined ? undefined : rcodeName(code);
  dnsRecord.answers = kind === 'query' ? undefined : writeAnswers(answers(dns));
  dnsRecord.authoritative = flag(dns.aa, 'dns.aa') ?? bit(flags, 0x0400);
  dnsRecord.truncated = flag(dns.tc, 'dns.tc') ?? bit(flags, 0x0200);
  dnsRecord.recursion_desired = flag(dns.rd, 'dns.rd') ?? bit(flags, 0x0100);
  dnsRecord.recursion_available = flag(dns.ra, 'dns.ra') ?? bit(flags, 0x0080);
  dnsRecord.rejected = code === undefined ? undefined : rcodeOf(code) === 5;
  dnsRecord.community_id = r.unique(eveSlots.community_id, 'community_id', communityId);
  dnsRecord.connection_id = r.flowId;
  dnsRecord.sensor = sensor ?? suricataSensor(r);
  dnsRecord.source = 'suricata';
  dnsRecord.severity = 'informational';
  return dnsRecord;
}

const kinds: ReadonlyMap<unknown, 'query' | 'response'> = new Map<unknown, 'query' | 'response'>([
  ['query', 'query'],
  ['request', 'query'],
  ['answer', 'response'],
  ['response', 'response'],
]);

/** Ports of DNS, NetBIOS names, mDNS and LLMNR servers. */
const serverPorts = new Set([53, 137, 5353, 5355]);

/**
 * Returns whether the record's source is the responder. If only one side has a port that only servers use, that
 * side is the responder. Otherwise, the source is the responder in records of the type `response` (format 3),
 * and the client in all others.
 */
function sentByServer(dns: JsonObject, senderPort: number | undefined, receiverPort: number | undefined): boolean {
  const bySender = senderPort !== undefined && serverPorts.has(senderPort);
  const byReceiver = receiverPort !== undefined && serverPorts.has(receiverPort);
  return bySender === byReceiver ? dns.type === 'response' : bySender;
}

/**
 * Reads the 16 bits of RFC 1035, 4.1.1 in hexadecimal: QR, opcode, AA 0400, TC 0200, RD 0100, RA 0080, rcode.
 */
function headerFlags(value: unknown): number | undefined {
  const flags = text(value, 'dns.flags');
  if (flags === undefined) return undefined;
  return /^[0-9a-f]{1,4}$/i.test(flags)
    ? Number.parseInt(flags, 16)
    : reject('dns.flags', `is ${named(flags)}, not 16 bits in hexadecimal`);
}

function bit(flags: number | undefined, mask: number): boolean | undefined {
  return flags === undefined ? undefined : (flags & mask) !== 0;
}

function first(value: unknown): JsonObject | undefined {
  const queries = list(value, 'dns.queries');
  return queries === undefined || queries.length === 0 ? undefined : object(queries[0], 'dns.queries');
}

function answers(dns: JsonObject): Answer[] {
  const detailed = list(dns.answers, 'dns.answers');
  if (detailed !== undefined) return detailed.map((answer) => detail(answer, 'dns.answers'));
  const grouped = object(dns.grouped, 'dns.grouped');
  if (grouped !== undefined) return Object.entries(grouped).flatMap(([type, values]) => group(type, values));
  return dns.rdata === undefined && dns.ttl === undefined ? [] : [detail(dns, 'dns')];
}

function detail(value: unknown, field: string): Answer {
  const answer = object(value, field) ?? reject(field, 'contains null');
  const type = text(answer.rrtype, `${field}.rrtype`);
  return {
    type: type === undefined ? undefined : typeName(type),
    ttl: timeToLive(answer.ttl, `${field}.ttl`),
    data: rdata(answer, field),
  };
}

/** Record types whose parts are separate fields in EVE, in the order of zone files. */
const structured = {
  soa: ['mname', 'rname', 'serial', 'refresh', 'retry', 'expire', 'minimum'],
  srv: ['priority', 'weight', 'port', 'name'],
  sshfp: ['algo', 'type', 'fingerprint'],
} as const;

function rdata(answer: JsonObject, field: string): string {
  const plain = text(answer.rdata, `${field}.rdata`);
  if (plain !== undefined) return plain;
  for (const [key, parts] of Object.entries(structured)) {
    const value = answer[key];
    if (isObject(value)) return parts.map((part) => zonePart(value[part], `${field}.${key}.${part}`)).join(' ');
  }
  return '';
}

function zonePart(value: unknown, field: string): string {
  return typeof value === 'number' ? String(value) : (text(value, field) ?? '');
}

/**
 * Reads the answers of one type. `grouped` has texts by type, without times to live, or objects for the
 * structured types.
 */
function group(type: string, values: unknown): Answer[] {
  const field = `dns.grouped.${type.slice(0, 40)}`;
  return (list(values, field) ?? []).map((value) => ({
    type: typeName(text(type, field) as string),
    ttl: undefined,
    data: isObject(value) ? rdata({ [type.toLowerCase()]: value }, field) : (text(value, field) ?? ''),
  }));
}
