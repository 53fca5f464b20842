/**
 * What do Sigma rules cost a record? Parsed records as sensors write them are matched against none, 50 and 3,000 generated
 * rules, in one thread and one run; the figure is records a second. Parsing the same lines as JSON is the floor that an
 * ingest worker stands on.
 */
import { parseSigma } from '../src/detect/sigma/parse-document.ts';
import type { JsonObject } from '../src/detect/sigma/record.ts';
import { compileRules, type RuleSet } from '../src/detect/sigma/rule-set.ts';
import { connRecords, mulberry32 } from './conn-records.ts';
import type { BenchRow } from './result.ts';
import { sigmaRules } from './sigma-rules.ts';

const count = 20_000;
const rounds = 9;
const chunk = 1000;

export async function run(): Promise<BenchRow[]> {
  const lines = { conn: connLines(), dns: dnsLines() };
  const rows: BenchRow[] = [];
  for (const log of ['conn', 'dns'] as const) {
    const question = `Zeek ${log} records a second, one thread`;
    const records = lines[log].map((line) => JSON.parse(line) as JsonObject);
    const floor = best(lines[log], (line) => void JSON.parse(line));
    rows.push({ question, variant: 'JSON.parse alone', ...floor });
    for (const rules of [0, 50, 3000]) {
      const set = compiled(rules);
      const kind = `zeek.${log}`;
      let found = 0;
      for (const record of records) set.match(kind, record, () => void found++);
      const rate = best(records, (record) => set.match(kind, record, () => {}));
      rows.push({
        question,
        variant: `${rules.toLocaleString('en')} rules`,
        ...rate,
        note: `${found} matches`,
      });
    }
  }
  const started = performance.now();
  compiled(3000);
  const value = Math.round(performance.now() - started);
  rows.push({ question: 'parsing and compiling', variant: '3,000 rules', value, unit: 'ms' });
  return rows;
}

function compiled(count: number): RuleSet {
  const set = compileRules(sigmaRules(count).flatMap((text) => parseSigma(text).documents));
  if (set.rules.length !== count) throw new Error(`${count - set.rules.length} rules were refused`);
  return set;
}

/** The least time of each chunk, added up: chunks are short, so that what else the machine does misses some of them. */
function best<T>(all: readonly T[], work: (one: T) => void): Pick<BenchRow, 'value' | 'unit'> {
  let total = 0;
  for (let from = 0; from < all.length; from += chunk) {
    const part = all.slice(from, from + chunk);
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      for (const one of part) work(one);
      least = Math.min(least, performance.now() - started);
    }
    total += least;
  }
  return { value: Math.round((all.length * 1000) / total), unit: 'records/s' };
}

function connLines(): string[] {
  return [...connRecords(count)].map((record) =>
    JSON.stringify({
      ts: record.timestamp / 1000,
      uid: record.connection_id,
      'id.orig_h': record.src_ip,
      'id.orig_p': record.src_port,
      'id.resp_h': record.dst_ip,
      'id.resp_p': record.dst_port,
      proto: record.transport,
      service: record.app_protocol,
      duration: (record.duration_ms ?? 0) / 1000,
      orig_bytes: record.src_payload_bytes,
      resp_bytes: record.dst_payload_bytes,
      conn_state: record.conn_state,
      history: record.history,
      orig_pkts: record.src_packets,
      orig_ip_bytes: record.src_bytes,
      resp_pkts: record.dst_packets,
      resp_ip_bytes: record.dst_bytes,
    }),
  );
}

function dnsLines(): string[] {
  const random = mulberry32(7);
  const below = (n: number) => Math.floor(random() * n);
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      ts: 1_767_225_600 + at / 100,
      uid: `C${at.toString(36)}`,
      'id.orig_h': `10.0.${below(4)}.${below(250)}`,
      'id.orig_p': 1024 + below(60_000),
      'id.resp_h': '10.0.0.1',
      'id.resp_p': 53,
      proto: 'udp',
      trans_id: below(65_536),
      query: `${hosts[below(hosts.length)]}.${below(3000).toString(36)}-cdn.Example${below(900)}.${['com', 'net', 'org'][below(3)]}`,
      qclass_name: 'C_INTERNET',
      qtype: 1,
      qtype_name: below(20) === 0 ? 'TXT' : 'A',
      rcode: 0,
      rcode_name: 'NOERROR',
      AA: false,
      TC: false,
      RD: true,
      RA: true,
      Z: 0,
      answers: Array.from(
        { length: 1 + below(3) },
        () => `${93 + below(60)}.${below(256)}.${below(256)}.${below(256)}`,
      ),
      TTLs: [60, 60, 60],
      rejected: false,
    }),
  );
}

const hosts = [
  'www',
  'api',
  'mail',
  'static',
  'img',
  'login',
  'cdn-7',
  'telemetry',
  'update',
  'edge-star-mini',
];
