/**
 * The whole service on data folders with one damaged file. DAMAGED_FOLDERS is their number (500 take half an
 * hour, less with BUNDLED_ENTRIES=1), DAMAGED_FOLDERS_FROM the first round. The first rounds cover every
 * file with every kind of damage; later rounds are random. A round always damages the same file in the same way,
 * at about the same place; rounds without any change are not counted. Each start continues, degrades or is refused
 * with a sentence that says what to do. No start crashes, and no service returns altered data unless a report
 * names the damaged file. Without DAMAGED_FOLDERS, only the databases are damaged, in six ways.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, send } from './call.ts';
import { type Case, type Damage, damageOne } from './damage.ts';
import { flows } from './shipper.ts';

const few: readonly Case[] = [
  ...(['older', 'truncated', 'zeroed', 'bits'] as const).map((kind) => ({ file: 'siem.mdb', kind })),
  ...(['truncated', 'bits'] as const).map((kind) => ({ file: 'ledger.mdb', kind })),
];
const isLong = process.env.DAMAGED_FOLDERS !== undefined;
const count = Number(process.env.DAMAGED_FOLDERS ?? few.length);
const first = Number(process.env.DAMAGED_FOLDERS_FROM ?? 1);
const lanes = Number(process.env.DAMAGED_FOLDERS_LANES ?? 2);

let folder: string;
let tokens: { readonly viewer: string; readonly auditor: string };
let sound: Answers;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candor-damaged-'));
  chmodSync(folder, 0o711); // also accessible to another user
  const dataDir = join(folder, 'made');
  mkdirSync(join(dataDir, 'rules'), { recursive: true, mode: 0o700 });
  const configure = (windowMs: number) => {
    writeFileSync(join(dataDir, 'config.json'), `{"alerts.window_ms": ${windowMs}}\n`);
    writeFileSync(join(dataDir, 'rules', 'one.yml'), rule(windowMs));
  };
  configure(3_600_000);
  const one = await startService({ dataDir });
  const sensor = await tokenFor(one, 'sensor');
  await send(one, sensor, more('early', '10.0.1'));
  tokens = { viewer: await tokenFor(one, 'viewer'), auditor: await tokenFor(one, 'auditor') };
  await one.stop();
  cpSync(dataDir, join(folder, 'older'), { recursive: true });
  configure(7_200_000);
  const two = await startService({ dataDir });
  await send(two, sensor, more('late', '10.0.2'));
  await two.stop();
  cpSync(dataDir, join(folder, 'whole'), { recursive: true });
  const three = await startService({ dataDir });
  sound = await answersOf(three);
  expect(Object.values(sound).map(({ status }) => status)).toEqual(Array(11).fill(200));
  expect(Object.entries(sound).filter(([, { text }]) => text === '[]')).toEqual([]);
  await three.stop();
});
afterAll(() => rmSync(folder, { recursive: true }));

const rule = (n: number) => `title: Never ${n}
id: 0199aa00-0000-4000-8000-000000000001
logsource: {category: dns}
detection: {selection: {query: never-${n}.example}, condition: selection}
`;

/** Returns alerts of a sensor, each for a different host and severe enough for the log. */
function alerts(network: string, count: number): string {
  const of = (n: number) => ({
    timestamp: '2025-11-21T08:00:00.000000+0000',
    event_type: 'alert',
    ...{
      src_ip: `203.0.113.${n}`,
      src_port: 443,
      dest_ip: `${network}.${n + 1}`,
      dest_port: 51_000,
      proto: 'TCP',
    },
    alert: {
      signature_id: 2_000_000 + n,
      gid: 1,
      rev: 1,
      signature: `ET TEST ${n}`,
      category: 'test',
      severity: 1,
    },
  });
  return Array.from({ length: count }, (_, n) => `${JSON.stringify(of(n))}\n`).join('');
}

/**
 * Returns records of all kinds with distinct values. Some flows have an internal server, because only
 * internal servers create services.
 */
function more(name: string, network: string): string {
  const inside = flows(`${name}-inside`, 40).replaceAll('203.0.113.7', `${network}.200`);
  return flows(name, 600) + inside + alerts(network, 5) + queries(name, 100);
}

/** Returns lines of Zeek's dns.log. */
function queries(name: string, count: number): string {
  const of = (n: number) => ({
    ts: 1_763_683_200 + n,
    uid: `dns-${name}-${n}`,
    ...{ 'id.orig_h': `10.0.0.${n % 250}`, 'id.orig_p': 51_000, 'id.resp_h': '10.0.3.53', 'id.resp_p': 53 },
    ...{
      proto: 'udp',
      query: `${name}-${n}.example`,
      qtype_name: 'A',
      rcode_name: 'NOERROR',
      answers: ['192.0.2.1'],
    },
  });
  return Array.from({ length: count }, (_, n) => `${JSON.stringify(of(n))}\n`).join('');
}

type Answers = Readonly<Record<string, { readonly status: number; readonly text: string }>>;

/** Returns events, alerts, derived data, identities and the log, as served. */
async function answersOf(service: Service): Promise<Answers> {
  const { viewer, auditor } = tokens;
  const get = async (path: string, token: string) => {
    const answer = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(20_000),
    });
    const body = (await answer.json()) as { data?: unknown };
    return { status: answer.status, text: JSON.stringify(body.data ?? body, withoutLogin) };
  };
  return {
    events: await get('/api/v1/events/network?per_page=1000', viewer),
    more: await get('/api/v1/events/network?per_page=1000&page=2', viewer),
    dns: await get('/api/v1/events/dns?per_page=1000', viewer),
    assets: await get('/api/v1/assets?per_page=1000', viewer),
    services: await get('/api/v1/services?per_page=1000', viewer),
    values: await get('/api/v1/events/network/values?by=src_ip&limit=100', viewer),
    histogram: await get('/api/v1/events/network/histogram', viewer),
    alerts: await get('/api/v1/alerts?per_page=1000', viewer),
    entries: await get('/api/transparency/entries?per_page=1000', auditor),
    proof: await get('/api/transparency/inclusion?leaf_index=3&tree_size=10', auditor),
    principals: await get('/api/v1/principals?per_page=1000', await login(service).catch(() => '')),
  };
}

/** Ignores the last login: reading principals requires a login, which changes it. */
const withoutLogin = (name: string, value: unknown) => (name === 'last_login_at' ? undefined : value);

interface Outcome extends Damage {
  readonly round: number;
  readonly outcome: 'sound' | 'noticed' | 'degraded' | 'refused' | 'reads fail';
  /** The violated requirement; undefined if all requirements are met. */
  readonly problem: string | undefined;
  readonly said: string;
}

/** Returns undefined for a round without any damage. */
async function play(round: number): Promise<Outcome | undefined> {
  const dataDir = join(folder, `round-${round}`);
  cpSync(join(folder, 'whole'), dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const damage = damageOne(dataDir, join(folder, 'older'), round, isLong ? undefined : few[round - 1]);
  if (damage === undefined) return void rmSync(dataDir, { recursive: true, force: true });
  const isInstance = damage.file === 'instance.json';
  try {
    const service = await startService({
      dataDir,
      env: { CANDOR_LEDGER_DETECT_COPIES: String(isInstance), ...threads },
      ...(damage.user === undefined ? {} : { wrapper: asUser(damage.user) }),
    });
    return { round, ...damage, ...(await judge(service, damage)) };
  } catch (error) {
    return { round, ...damage, ...refusal(String(error)) };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Fewer threads start sooner. */
const threads = { CANDOR_THREADS_INGEST: '1', CANDOR_THREADS_ANALYTICS: '1' };

const asUser = (uid: number) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];

/** Returns the outcome of a service that did not start. The service must exit with code 1 or 7 and give a reason. */
function refusal(message: string): Pick<Outcome, 'outcome' | 'problem' | 'said'> {
  const said = message.split('\n').find((line) => line.startsWith('candor: ')) ?? message.slice(0, 300);
  const advises = /\b(restore|backup|rebuild|move it away|chown|chmod|put it back|remove|expected)\b/.test(said);
  const isSentence = /ended with [17]:/.test(message) && said.startsWith('candor: ') && advises;
  return { outcome: 'refused', problem: isSentence ? undefined : 'ended without advice', said };
}

function told(line: string): string {
  const { msg, warning = '', err } = JSON.parse(line) as { msg: string; warning?: string; err?: Error };
  return [msg, warning, err?.message ?? ''].join(' ').trim();
}

async function judge(service: Service, { file, kind }: Damage): Promise<Pick<Outcome, 'outcome' | 'problem' | 'said'>> {
  const answers = await answersOf(service).catch((error: unknown) => String(error));
  const health = (await call(service, 'getHealth')
    .then(({ body }) => body)
    .catch((error: unknown) => ({ status: String(error) }))) as {
    status: string;
    advice?: string;
    findings?: object[];
  };
  const code = await Promise.race([
    service.stop(),
    new Promise<string>((resolve) => setTimeout(() => resolve('running'), 100_000).unref()),
  ]);
  if (typeof answers === 'string' || code !== 0) {
    if (code === 'running') await service.kill();
    return { outcome: 'reads fail', problem: `ended with ${code}`, said: `${answers}`.slice(0, 300) };
  }
  const warnings = service.output.filter((line) => /"level":[456]0/.test(line));
  const said = health.advice ?? JSON.stringify(health.findings ?? warnings.map(told));
  // Damage to a rule file changes the rule, and the log must have an entry about this change.
  const isRule = file.startsWith('rules/');
  const altered = Object.entries(answers).filter(
    ([name, { status, text }]) => status === 200 && text !== sound[name]!.text && !(isRule && name === 'entries'),
  );
  const failed = Object.values(answers).some(({ status }) => status !== 200);
  const isSaid = health.status !== 'ok' || health.findings !== undefined || warnings.length > 0;
  // Altered responses count as noticed only if a report names the damaged file; other warnings do not
  // suffice.
  const isNamed = [said, ...warnings.map(told)].some((text) => text.includes(basename(file)));
  const problem =
    altered.length > 0 && !isNamed ? `serves other ${altered.map(([name]) => name)} after ${kind}` : undefined;
  const outcome = health.status !== 'ok' ? 'degraded' : failed ? 'reads fail' : isSaid ? 'noticed' : 'sound';
  return { outcome, problem, said: said.slice(0, 300) };
}

test(`${count} damaged data folders never cause a crash or a wrong response without a report`, {
  timeout: 60_000 + count * 60_000,
}, async () => {
  const outcomes: Outcome[] = [];
  let round = isLong ? first : 1;
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const outcome = await play(round++);
      if (outcome === undefined) left++;
      else outcomes.push(outcome);
      if (isLong) process.stdout.write(`${JSON.stringify(outcome)}\n`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  expect(outcomes).toHaveLength(count);
  expect(outcomes.filter(({ problem }) => problem !== undefined)).toEqual([]);
});
