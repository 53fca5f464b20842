/**
 * How much can malicious rules slow the service down? An analyst writes rules until the limit on their total cost is
 * reached, or runs three rule tests at a time without a pause, each with the slowest allowed expression. Measures the
 * events per second that are then stored and processed, and the time of a query under this load. Three services
 * alternate, round after round, one at a time. Ratios are relative to the service without rules in the same round.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Service, startService, tokenFor } from '../scripts/service.ts';
import { load } from './ingest-http.ts';
import { zeekJsonBodies } from './load/moving.ts';
import { type BenchRow, median, rowOfRounds } from './result.ts';
import { disableAll } from './sigma-http.ts';
import { dnsLines } from './sigma-rules.ts';
import { untilCounted } from './until-counted.ts';

const linesPerBody = 2000;
/** Number of rules: more than the limit on the total cost allows, so some rules are refused. */
const written = 400;
const testsAtOnce = 3;
const variants = ['no rules', 'rules that fill the limit', 'three rule tests'] as const;
type Variant = (typeof variants)[number];

export async function run(rounds = 3, secondsPerRound = 10): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-hostile-rules-'));
  const figures = new Map(variants.map((name) => [name, [] as Measured[]]));
  try {
    const rules = writeRules(folder);
    for (let round = 0; round < rounds; round++)
      for (const name of variants)
        figures.get(name)!.push(await measure(name, folder, rules, secondsPerRound, round === 0));
    return rowsOf(figures);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Measured {
  readonly eventsPerS: number;
  /** Median time of the queries, in milliseconds. */
  readonly queryMs: number;
  readonly note: string;
}

async function measure(
  name: Variant,
  folder: string,
  rules: string,
  seconds: number,
  isFirst: boolean,
): Promise<Measured> {
  const isFull = name === 'rules that fill the limit';
  const dataDir = join(folder, name.replaceAll(' ', '-'));
  const service = await startService({
    dataDir,
    env: { CANDOR_DETECTION_RULES_DIR: isFull ? rules : join(folder, 'none') },
  });
  try {
    if (isFirst && !isFull) await disableAll(service);
    const analyst = `Bearer ${await tokenFor(service, 'analyst')}`;
    const sensor = await tokenFor(service, 'sensor');
    const inEffect = await ruleCount(service, analyst, false);
    const refused = await ruleCount(service, analyst, true);
    if (isFull !== refused > 0) throw new Error(`${name}: ${refused} rules are refused`);
    const bodies = zeekJsonBodies(dnsLines(linesPerBody * 8), linesPerBody);
    const url = `${service.url}/api/v1/ingest`;
    await load(url, sensor, bodies, false, Math.min(2, seconds));
    await untilCounted(service);
    let isOver = false;
    const goesOn = () => !isOver;
    const tests = Array.from({ length: name === 'three rule tests' ? testsAtOnce : 0 }, (_, n) =>
      testRules(service, analyst, n, goesOn),
    );
    const queries = query(service, analyst, goesOn);
    const began = performance.now();
    const { accepted } = await load(url, sensor, bodies, false, seconds);
    await untilCounted(service);
    const eventsPerS = (accepted / (performance.now() - began)) * 1000;
    isOver = true;
    const times = await queries;
    const asked = (await Promise.all(tests)).reduce((sum, one) => sum + one, 0);
    const note = `${inEffect} rules in effect, ${refused} refused; ${times.length} queries, ${asked} rule tests`;
    return { eventsPerS, queryMs: median(times), note };
  } finally {
    await service.stop();
  }
}

/** Returns milliseconds per query, one query at a time. */
async function query(service: Service, authorization: string, goesOn: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (goesOn()) {
    const began = performance.now();
    const path = '/api/v1/events/dns?src_ip=10.0.1.7&per_page=100';
    const response = await fetch(`${service.url}${path}`, { headers: { authorization } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    times.push(performance.now() - began);
  }
  return times;
}

/** Returns the number of completed tests. The service may refuse a test while others run. */
async function testRules(service: Service, authorization: string, n: number, goesOn: () => boolean): Promise<number> {
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ source: costly(n) });
  let ended = 0;
  while (goesOn()) {
    const response = await fetch(`${service.url}/api/v1/rules/test`, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.ok) ended++;
    else if (response.status !== 429 && response.status !== 503) throw new Error(`${response.status} ${text}`);
  }
  return ended;
}

async function ruleCount(service: Service, authorization: string, broken: boolean): Promise<number> {
  const path = `/api/v1/rules?${broken ? '' : 'enabled=true&'}broken=${broken}&per_page=1`;
  const response = await fetch(`${service.url}${path}`, { headers: { authorization } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { pagination: { total: number } }).pagination.total;
}

/** Writes files of fifty rules, because the size of a rules file is limited. */
function writeRules(folder: string): string {
  const its = join(folder, 'rules');
  mkdirSync(its);
  for (let at = 0; at < written; at += 50) {
    const texts = Array.from({ length: 50 }, (_, n) => costly(at + n));
    writeFileSync(join(its, `${at}.yml`), texts.join('\n---\n'));
  }
  return its;
}

/** Returns a rule that cannot be skipped by a literal, with an expression that causes much backtracking. */
const costly = (n: number): string =>
  JSON.stringify({
    title: `Costly ${n}`,
    logsource: { category: 'dns' },
    detection: { s: { 'query|re': `([a-z]|[a-m0-9.])*x[a-z0-9]{${12 + (n % 20)}}${n}` }, condition: 's' },
  });

function rowsOf(figures: ReadonlyMap<Variant, readonly Measured[]>): BenchRow[] {
  const none = figures.get('no rules')!;
  const rows: BenchRow[] = [];
  for (const [question, unit, of] of [
    ['Events per second beside rules of an attacker', 'events/s', (one: Measured) => one.eventsPerS],
    ['Median time of a query beside rules of an attacker', 'ms', (one: Measured) => one.queryMs],
  ] as const)
    for (const [variant, rounds] of figures) {
      rows.push(rowOfRounds({ question, variant, unit, note: rounds[0]!.note }, rounds.map(of)));
      if (rounds === none) continue;
      const ratios = rounds.map((one, round) => of(one) / of(none[round]!));
      rows.push(rowOfRounds({ question, variant: `${variant} ÷ no rules`, unit: '×' }, ratios));
    }
  return rows;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 10)));
