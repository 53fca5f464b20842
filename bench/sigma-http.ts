/**
 * How much do Sigma rules cost from HTTP to disk? Conn and DNS lines in Zeek's format are sent to three services
 * alternately, round after round, one at a time: one with all rules disabled, one with the shipped rules, and one with
 * the shipped rules and 3,000 generated rules. A round ends when detection and statistics include all of its events.
 * Ratios compare services in the same round.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { login, type Service, startService, tokenFor } from '../scripts/service.ts';
import { connLines } from '../scripts/traffic/index.ts';
import { load } from './ingest-http.ts';
import { type MovingBodies, zeekJsonBodies } from './load/moving.ts';
import { type BenchRow, rowOfRounds } from './result.ts';
import { dnsLines, dnsLinesStart, sigmaRules } from './sigma-rules.ts';
import { untilCounted } from './until-counted.ts';

const question = 'Events per second from HTTP to disk, detected on and counted, by rules in effect';
const generated = 3000;
/** Lines per body, of which a fifth is DNS. */
const linesPerBody = { conn: 8000, dns: 2000 };
const distinctBodies = 12;

export async function run(rounds = 3, secondsPerRound = 8): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-rules-'));
  const none = join(folder, 'none');
  const variants: Variant[] = [
    variant(folder, 'no rules', none),
    variant(folder, 'shipped rules', none),
    variant(folder, 'shipped and 3,000 generated rules', writeRules(folder)),
  ];
  try {
    for (let round = 0; round < rounds; round++)
      for (const one of variants) await measure(one, secondsPerRound, round === 0);
    return rowsOf(variants);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Variant {
  readonly variant: string;
  readonly dataDir: string;
  /** Folder of the operator's rules. */
  readonly rules: string;
  /** Input of the variant, new in every round. */
  readonly bodies: MovingBodies;
  accepted: number;
  /** Events per second, by round. */
  readonly rates: number[];
  enabled: number;
}

function variant(folder: string, name: string, rules: string): Variant {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  return { variant: name, dataDir, rules, bodies: newBodies(), accepted: 0, rates: [], enabled: 0 };
}

/** Runs one round of a variant. Starts the variant's service, whose data folder is kept between rounds. */
async function measure(one: Variant, seconds: number, isFirst: boolean): Promise<void> {
  const service = await startService({
    dataDir: one.dataDir,
    env: { CANDOR_DETECTION_RULES_DIR: one.rules },
  });
  try {
    if (isFirst && one.variant === 'no rules') await disableAll(service);
    await expectRules(one, service);
    const token = await tokenFor(service, 'sensor');
    const url = `${service.url}/api/v1/ingest`;
    await load(url, token, one.bodies, false, Math.min(2, seconds));
    await untilCounted(service);
    const began = performance.now();
    const { accepted } = await load(url, token, one.bodies, false, seconds);
    await untilCounted(service);
    one.accepted += accepted;
    one.rates.push((accepted / (performance.now() - began)) * 1000);
  } finally {
    await service.stop();
  }
}

/** Writes files of fifty rules, because the size of a rules file is limited. */
function writeRules(folder: string): string {
  const rules = sigmaRules(generated);
  const its = join(folder, 'generated');
  mkdirSync(its);
  for (let at = 0; at < rules.length; at += 50)
    writeFileSync(join(its, `${at}.yml`), rules.slice(at, at + 50).join('\n---\n'));
  return its;
}

export async function disableAll(service: Service): Promise<void> {
  const headers = { authorization: `Bearer ${await login(service)}`, 'content-type': 'application/json' };
  for (;;) {
    const { data } = await rules(service, headers.authorization, 'enabled=true&per_page=100');
    if (data.length === 0) return;
    for (const { id } of data) {
      const body = JSON.stringify({ enabled: false });
      const response = await fetch(`${service.url}/api/v1/rules/${id}`, { method: 'PUT', headers, body });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    }
  }
}

/** Checks that the variant's rules match its name; the page shows the number of rules in effect. */
async function expectRules(one: Variant, service: Service): Promise<void> {
  const bearer = `Bearer ${await login(service)}`;
  const { pagination } = await rules(service, bearer, 'enabled=true&broken=false&per_page=1');
  one.enabled = pagination.total;
  const none = one.variant === 'no rules';
  if (none !== (one.enabled === 0)) throw new Error(`${one.variant}: ${one.enabled} rules are in effect`);
}

async function rules(service: Service, authorization: string, query: string) {
  const response = await fetch(`${service.url}/api/v1/rules?${query}`, { headers: { authorization } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { data: { id: string }[]; pagination: { total: number } };
}

function rowsOf(running: readonly Variant[]): BenchRow[] {
  const [none, ...others] = running as [Variant, ...Variant[]];
  const counts = `events in bodies of ${linesPerBody.conn + linesPerBody.dns} lines`;
  return [
    ...running.map((one) => {
      const note = `${one.enabled.toLocaleString('en')} in effect; ${one.accepted.toLocaleString('en')} ${counts}`;
      return rowOfRounds({ question, variant: one.variant, unit: 'events/s', note }, one.rates, Math.round);
    }),
    ...others.map((one) =>
      rowOfRounds(
        { question, variant: `${one.variant} ÷ no rules`, unit: '×' },
        one.rates.map((rate, round) => rate / (none.rates[round] ?? Number.NaN)),
        (ratio) => Math.round(100 * ratio) / 100,
      ),
    ),
  ];
}

/** Creates bodies with connections and lookups of one period, with the same number of lookups in each body. */
function newBodies(): MovingBodies {
  const dns = dnsLines(linesPerBody.dns * distinctBodies);
  const conn = [...connLines(7, linesPerBody.conn * distinctBodies, dnsLinesStart)];
  const lines = Array.from({ length: distinctBodies }, (_, n) => [
    ...conn.slice(n * linesPerBody.conn, (n + 1) * linesPerBody.conn),
    ...dns.slice(n * linesPerBody.dns, (n + 1) * linesPerBody.dns),
  ]).flat();
  return zeekJsonBodies(lines, linesPerBody.conn + linesPerBody.dns);
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 8)));
