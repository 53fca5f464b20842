/**
 * How much do Sigma rules cost per record? Parsed records in sensors' formats are matched against no rules, the shipped
 * rules, 3,000 generated rules, and shipped and generated rules together, in one thread and one run; the figure is
 * records per second. Parsing the same lines as JSON is the lower bound for an ingest worker. sigma-http.ts measures
 * the same from HTTP to disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { loadConfig } from '../src/config/load.ts';
import { rulePlaceholders } from '../src/config/part-settings.ts';
import { parseSigma } from '../src/detect/sigma/parse-document.ts';
import type { JsonObject } from '../src/detect/sigma/record.ts';
import { compileRules, type RuleSet } from '../src/detect/sigma/rule-set.ts';
import { connRecords } from './conn-records.ts';
import type { BenchRow } from './result.ts';
import { run as overHttp } from './sigma-http.ts';
import { dnsLines, sigmaRules } from './sigma-rules.ts';

const rounds = 9;
const chunk = 1000;

export async function run(): Promise<BenchRow[]> {
  return [...inOneThread(20_000), ...(await overHttp())];
}

function inOneThread(count: number): BenchRow[] {
  const lines = { conn: connLines(count), dns: dnsLines(count) };
  const rows: BenchRow[] = [];
  for (const log of ['conn', 'dns'] as const) {
    const question = `Zeek ${log} records per second, one thread`;
    const records = lines[log].map((line) => JSON.parse(line) as JsonObject);
    const floor = best(lines[log], (line) => void JSON.parse(line));
    rows.push({ question, variant: 'JSON.parse alone', ...floor });
    for (const [variant, texts] of Object.entries(variants)) {
      const set = compiled(texts);
      const kind = `zeek.${log}`;
      let found = 0;
      for (const record of records) set.match(kind, record, () => void found++);
      const rate = best(records, (record) => set.match(kind, record, () => {}));
      rows.push({
        question,
        variant,
        ...rate,
        note: `${found} matches`,
      });
    }
  }
  const started = performance.now();
  compiled(variants['3,000 generated rules']!);
  const value = Math.round(performance.now() - started);
  rows.push({ question: 'parsing and compiling', variant: '3,000 rules', value, unit: 'ms' });
  return rows;
}

const folder = new URL('../src/detect/rules/', import.meta.url);
const shipped = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
const generated = sigmaRules(3000);
const variants: Readonly<Record<string, readonly string[]>> = {
  'no rules': [],
  'shipped rules': shipped,
  '3,000 generated rules': generated,
  'shipped and 3,000 generated rules': [...shipped, ...generated],
};

function compiled(texts: readonly string[]): RuleSet {
  const placeholders = rulePlaceholders(loadConfig({}));
  const set = compileRules(
    texts.flatMap((text) => parseSigma(text).documents),
    { placeholders },
  );
  if (set.refused.length > 0) throw new Error(`${set.refused.length} rules were refused`);
  return set;
}

/**
 * Returns the rate that results from the shortest time of each chunk. Chunks are short, so that most are not disturbed
 * by other load on the machine.
 */
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

function connLines(count: number): string[] {
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

if (import.meta.main) console.table(inOneThread(Number(process.argv[2] ?? 20_000)));
