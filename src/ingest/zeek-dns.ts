import { TextSpan } from '../events/format/text-span.ts';
import type { DnsRecord, WithSpans } from '../events/records.ts';
import { isAddress, parseIpv4 } from '../net/ip.ts';
import {
  type Answer,
  className,
  classNameOf,
  rcodeName,
  rcodeNameOf,
  rcodeOf,
  typeName,
  typeNameOf,
  writeAnswers,
} from './dns-codes.ts';
import { newDnsRecord } from './event-records.ts';
import { dnsRcode, flag, list, port, seconds, text, timeToLive, whole, zeekTime } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import type { RecordFields } from './record-fields.ts';
import { reject } from './rejection.ts';
import { slotsOf } from './slots.ts';
import { requiredZeekTransport, zeekFields, zeekSensor } from './zeek-envelope.ts';

const dnsRecord = newDnsRecord();

const f = slotsOf(
  zeekFields,
  'qtype_name qtype qclass_name qclass rcode_name rcode trans_id query answers TTLs AA TC RD RA rejected rtt',
);
export const dnsSlots = f;
const uid = new TextSpan();
const communityId = new TextSpan();

/**
 * Reads a line of dns.log (zeek scripts/base/protocols/dns/main.zeek): a whole transaction if it has a response
 * code, otherwise an unanswered query. A missing name of the type, class or code is derived from the number, and a
 * missing number of the code from the name.
 */
export function zeekDns(r: RecordFields, { addresses, sensor }: ParseContext): WithSpans<DnsRecord> {
  const timestamp = zeekTime(r.value(f.ts), 'ts');
  const src = r.requiredAddress(f.orig_h, r.names.orig_h, addresses);
  const dst = r.requiredAddress(f.resp_h, r.names.resp_h, addresses);
  const qtype = either(
    text(r.value(f.qtype_name), 'qtype_name'),
    typeName,
    whole(r.value(f.qtype), 'qtype', 65535),
    typeNameOf,
  );
  const name = text(r.value(f.rcode_name), 'rcode_name');
  const rcode = dnsRcode(r.value(f.rcode), 'rcode') ?? (name === undefined ? undefined : rcodeOf(name));
  dnsRecord.id = undefined;
  dnsRecord.timestamp = timestamp;
  dnsRecord.src_ip = src.text;
  dnsRecord.src_port = port(r.value(f.orig_p), r.names.orig_p);
  dnsRecord.dst_ip = dst.text;
  dnsRecord.dst_port = port(r.value(f.resp_p), r.names.resp_p);
  dnsRecord.transport = requiredZeekTransport(r.value(f.proto), 'proto');
  dnsRecord.kind = rcode === undefined && name === undefined ? 'query' : 'transaction';
  dnsRecord.transaction_id = whole(r.value(f.trans_id), 'trans_id', 65535);
  dnsRecord.query = text(r.value(f.query), 'query');
  dnsRecord.qtype = qtype;
  dnsRecord.qclass = either(
    text(r.value(f.qclass_name), 'qclass_name'),
    className,
    whole(r.value(f.qclass), 'qclass', 65535),
    classNameOf,
  );
  dnsRecord.rcode = rcode;
  dnsRecord.rcode_name = either(name, rcodeName, rcode, rcodeNameOf);
  dnsRecord.answers = answers(r, qtype);
  dnsRecord.authoritative = flag(r.value(f.AA), 'AA');
  dnsRecord.truncated = flag(r.value(f.TC), 'TC');
  dnsRecord.recursion_desired = flag(r.value(f.RD), 'RD');
  dnsRecord.recursion_available = flag(r.value(f.RA), 'RA');
  dnsRecord.rejected = flag(r.value(f.rejected), 'rejected');
  dnsRecord.rtt_ms = seconds(r.value(f.rtt), 'rtt');
  dnsRecord.community_id = r.unique(f.community_id, 'community_id', communityId);
  dnsRecord.connection_id = r.unique(f.uid, 'uid', uid);
  dnsRecord.sensor = sensor ?? zeekSensor(r.value(f._system_name), r.value(f['@system']), r.value(f._node_name));
  dnsRecord.source = 'zeek';
  dnsRecord.severity = 'informational';
  return dnsRecord;
}

/** Returns the value for the name if there is a name; otherwise the value for the number. */
function either(
  name: string | undefined,
  ofName: (name: string) => string,
  number: number | undefined,
  ofNumber: (number: number) => string,
): string | undefined {
  if (name !== undefined) return ofName(name);
  return number === undefined ? undefined : ofNumber(number);
}

/**
 * Returns the answers with their times to live, which Zeek writes as a separate list, and with the types, which
 * Zeek omits.
 */
function answers(r: RecordFields, qtype: string | undefined): string | undefined {
  const data = list(r.value(f.answers), 'answers');
  if (data === undefined || data.length === 0) return undefined;
  const ttls = list(r.value(f.TTLs), 'TTLs');
  return writeAnswers(
    data.map((given, at) => {
      const value = given === '' ? '' : (text(given, 'answers') ?? reject('answers', 'contains null'));
      return typed(value, qtype, timeToLive(ttls?.[at], 'TTLs'));
    }),
  );
}

function typed(data: string, qtype: string | undefined, ttl: number | undefined): Answer {
  if (data.startsWith('TXT ') || data.startsWith('SPF ')) {
    const strings = characterStrings(data);
    if (strings !== undefined) return { type: data.slice(0, 3), ttl, data: strings };
  }
  const byName = qtype === 'A' || qtype === 'AAAA';
  if (byName || qtype === 'ANY' || qtype === undefined) {
    if (isAddress(data)) return { type: parseIpv4(data) >= 0 ? 'A' : 'AAAA', ttl, data };
    // In the answer to an address query, a name is part of a CNAME chain.
    return { type: byName ? 'CNAME' : undefined, ttl, data };
  }
  return { type: qtype, ttl, data };
}

/**
 * Decodes `TXT 3 abc TXT 2 de` (each string of the record with its length) as `abcde`: strings of one record
 * are joined without separators (RFC 7208, 3.3). If the lengths do not match, as with escaped bytes, returns
 * the text after the first prefix.
 */
function characterStrings(data: string): string | undefined {
  const first = /^[A-Z]{3} \d{1,5} /.exec(data);
  if (first === null) return undefined;
  let joined = '';
  for (let at = 0; at < data.length; ) {
    const prefix = /^[A-Z]{3} (\d{1,5}) /.exec(data.slice(at, at + 10));
    if (prefix === null) return data.slice(first[0].length);
    const start = at + prefix[0].length;
    const end = start + Number(prefix[1]);
    if (end > data.length || (end < data.length && data[end] !== ' ')) return data.slice(first[0].length);
    joined += data.slice(start, end);
    at = end + 1;
  }
  return joined;
}
