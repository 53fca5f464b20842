import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { traffic } from '../../../scripts/traffic/index.ts';
import type { Detection, Detector, DnsLookup } from '../../../src/detect/behaviour/detector.ts';
import { compileHome } from '../../../src/net/home-networks.ts';
import { addressBytes } from '../../../src/net/ip.ts';
import { type OfficeOptions, readOnce, reports, withoutRefreshes } from './told-flows.ts';

const shared = join(process.env.CANDOR_SHARED ?? '../shared', 'data');
export const dnsFiles = {
  internetHost: join(shared, 'zeek-internet-host/missing_host.dns.ndjson.gz'),
  lan: join(shared, 'zeek-lan/m57.dns.ndjson.gz'),
  variants: join(shared, 'zeek-variants/all-fields.dns.ndjson'),
} as const;
export const hasDnsFiles = Object.values(dnsFiles).every((file) => existsSync(file));

const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

type Json = Record<string, unknown>;

class LookupReader {
  readonly #isHome: (bytes: Uint8Array) => boolean;
  #seq = 0;

  constructor(home: readonly string[] = privateNetworks) {
    this.#isHome = compileHome(home);
  }

  read(line: string): DnsLookup | undefined {
    const r = JSON.parse(line) as Json;
    const lookup =
      r.event_type === 'dns' ? ofSuricata(r) : r._path === 'conn' || r.trans_id === undefined ? undefined : ofZeek(r);
    if (lookup === undefined) return undefined;
    const bytes = addressBytes(lookup.src);
    return { ...lookup, seq: ++this.#seq, srcHome: bytes !== undefined && this.#isHome(bytes) };
  }
}

function ofZeek(r: Json): DnsLookup {
  const answers = r.answers as string[] | undefined;
  return aLookup({
    time: (r.ts as number) * 1000,
    src: String(r['id.orig_h']),
    dst: String(r['id.resp_h']),
    query: String(r.query ?? '').toLowerCase(),
    qtype: r.qtype_name as string | undefined,
    rcode: (r.rcode as number | undefined) ?? Number.NaN,
    answers: answers === undefined ? undefined : JSON.stringify(answers.map((data) => ({ data }))),
  });
}

const rcodes: Readonly<Record<string, number>> = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };

function ofSuricata(r: Json): DnsLookup {
  const dns = r.dns as Json;
  const [query = dns] = (dns.queries as Json[] | undefined) ?? [];
  const isSwapped = dns.type === 'response';
  return aLookup({
    time: Date.parse(String(r.timestamp)),
    src: String(isSwapped ? r.dest_ip : r.src_ip),
    dst: String(isSwapped ? r.src_ip : r.dest_ip),
    query: String(query.rrname ?? '').toLowerCase(),
    qtype: query.rrtype as string | undefined,
    rcode: dns.rcode === undefined ? Number.NaN : (rcodes[String(dns.rcode)] ?? 5),
    answers: dns.answers === undefined ? undefined : JSON.stringify(dns.answers),
  });
}

/** Returns the look-ups of a log, in the order of its file. */
export const realLookups = (file: string, home?: readonly string[]): readonly DnsLookup[] =>
  readOnce(`look-ups ${file} ${home}`, () => lookupsIn(file, home));

function* lookupsIn(file: string, home?: readonly string[]): Generator<DnsLookup> {
  const reader = new LookupReader(home);
  const bytes = readFileSync(file);
  for (const line of (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trim().split('\n')) {
    const lookup = reader.read(line);
    if (lookup !== undefined) yield lookup;
  }
}

/** Returns the look-ups of the traffic generator's office, starting on a Monday at midnight. */
export const officeLookups = (options: OfficeOptions): readonly DnsLookup[] =>
  readOnce(`look-ups ${JSON.stringify(options)}`, () => lookupsOfOffice(options));

function* lookupsOfOffice(options: OfficeOptions): Generator<DnsLookup> {
  const reader = new LookupReader();
  const start = Date.UTC(2026, 10, 16);
  for (const { time, line, truth } of traffic({ seed: 5, start, ...options })) {
    if (time >= start + options.days * 86_400_000) return;
    if (truth !== 'benign' && (truth === 'sensor-alert' || options.attacks !== true)) continue;
    const lookup = reader.read(line);
    if (lookup !== undefined) yield lookup;
  }
}

export const monday = Date.UTC(2026, 10, 16, 9);

/** Returns an ordinary query of an inside host, with the test's changes. */
export function aLookup(what: Partial<DnsLookup>): DnsLookup {
  return {
    seq: 1,
    time: monday,
    src: '10.0.0.5',
    dst: '10.0.0.1',
    srcHome: true,
    query: 'www.example.com',
    qtype: 'A',
    rcode: 0,
    answers: '[{"type":"A","ttl":60,"data":"203.0.113.7"}]',
    ...what,
  };
}

/** Returns `count` queries, one every `gapMs`. */
export const series = (count: number, gapMs: number, make: (i: number) => Partial<DnsLookup>): DnsLookup[] =>
  Array.from({ length: count }, (_, i) => aLookup({ seq: i + 1, time: monday + i * gapMs, ...make(i) }));

/**
 * Passes look-ups to a detector, evaluates the detector after every `every` look-ups and at the end, and
 * returns its findings without refreshes.
 */
export const detectionsOf = (detector: Detector, lookups: Iterable<DnsLookup>, every = 256): Detection[] =>
  withoutRefreshes(reports(detector, lookups, (lookup) => detector.lookup?.(lookup), every));
