import type { DnsRecord } from '../events/records.ts';
import { isAddress, parseIpv4 } from '../net/ip.ts';
import { type Answer, writeAnswers } from './dns-answers.ts';
import { className, classNameOf, rcodeName, rcodeNameOf, rcodeOf, typeName, typeNameOf } from './dns-codes.ts';
import { newDnsRecord } from './event-records.ts';
import { dnsRcode, flag, type JsonObject, list, port, seconds, text, timeToLive, whole, zeekTime } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { reject } from './rejection.ts';
import { requiredZeekTransport, type ZeekIds, zeekSensor } from './zeek-envelope.ts';

const dnsRecord = newDnsRecord();

/**
 * Reads a line of dns.log (zeek scripts/base/protocols/dns/main.zeek): a whole transaction if it has a response
 * code, otherwise an unanswered query. A missing name of the type, class or code is derived from the number, and a
 * missing number of the code from the name.
 */
export function zeekDns(r: JsonObject, ids: ZeekIds, { addresses, sensor }: ParseContext): DnsRecord {
  const timestamp = zeekTime(r.ts, 'ts');
  const src = addresses.required(ids.orig_h, ids.names.orig_h);
  const dst = addresses.required(ids.resp_h, ids.names.resp_h);
  const qtype = either(text(r.qtype_name, 'qtype_name'), typeName, whole(r.qtype, 'qtype', 65535), typeNameOf);
  const name = text(r.rcode_name, 'rcode_name');
  const rcode = dnsRcode(r.rcode, 'rcode') ?? (name === undefined ? undefined : rcodeOf(name));
  dnsRecord.id = undefined;
  dnsRecord.timestamp = timestamp;
  dnsRecord.src_ip = src.text;
  dnsRecord.src_port = port(ids.orig_p, ids.names.orig_p);
  dnsRecord.dst_ip = dst.text;
  dnsRecord.dst_port = port(ids.resp_p, ids.names.resp_p);
  dnsRecord.transport = requiredZeekTransport(r.proto, 'proto');
  dnsRecord.kind = rcode === undefined && name === undefined ? 'query' : 'transaction';
  dnsRecord.transaction_id = whole(r.trans_id, 'trans_id', 65535);
  dnsRecord.query = text(r.query, 'query');
  dnsRecord.qtype = qtype;
  dnsRecord.qclass = either(
    text(r.qclass_name, 'qclass_name'),
    className,
    whole(r.qclass, 'qclass', 65535),
    classNameOf,
  );
  dnsRecord.rcode = rcode;
  dnsRecord.rcode_name = either(name, rcodeName, rcode, rcodeNameOf);
  dnsRecord.answers = answers(r, qtype);
  dnsRecord.authoritative = flag(r.AA, 'AA');
  dnsRecord.truncated = flag(r.TC, 'TC');
  dnsRecord.recursion_desired = flag(r.RD, 'RD');
  dnsRecord.recursion_available = flag(r.RA, 'RA');
  dnsRecord.rejected = flag(r.rejected, 'rejected');
  dnsRecord.rtt_ms = seconds(r.rtt, 'rtt');
  dnsRecord.community_id = text(r.community_id, 'community_id');
  dnsRecord.connection_id = text(r.uid, 'uid');
  dnsRecord.sensor = sensor ?? zeekSensor(r);
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
function answers(r: JsonObject, qtype: string | undefined): string | undefined {
  const data = list(r.answers, 'answers');
  if (data === undefined || data.length === 0) return undefined;
  const ttls = list(r.TTLs, 'TTLs');
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
