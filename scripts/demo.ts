/**
 * `npm run demo`: starts the service on a fresh data folder, replays a day of office traffic with attacks,
 * shows live alerts, proves one of them against the transparency log, and continues in real time until
 * Ctrl-C. `--once` ends after the proof, `--rate` sets the lines per second.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { audit, type Pin } from '../src/client/auditor.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { AuditFault } from '../src/client/fault.ts';
import { httpLog, type LogSource } from '../src/client/log-source.ts';
import { parseTreeHead } from '../src/client/tree-head.ts';
import type { Alert } from '../src/contract/resources/alert.ts';
import type { Role } from '../src/contract/vocabulary.ts';
import { type AlertFeed, watchAlerts } from './demo/alerts.ts';
import { type FeedCounts, feed, live, steadily } from './demo/feed.ts';
import { proveAlert } from './demo/prove.ts';
import { bold, dim, refreshMs, say, severityText, update } from './demo/terminal.ts';
import { type Service, startService } from './service.ts';
import { traffic } from './traffic/index.ts';

const hourMs = 3_600_000;
const seed = 20_261_121;
/** Length of the replayed history: from shortly after midnight to a busy afternoon of the office. */
const historyMs = 15.5 * hourMs;
/** A Wednesday at 16:00, the local time of the office at the start of every demo. */
const officeAfternoon = Date.UTC(2026, 10, 18, 16);

const { values: options } = parseArgs({
  options: { once: { type: 'boolean' }, rate: { type: 'string', default: '2000' } },
});
const once = options.once === true || process.env.CANDOR_DEMO_ONCE === '1';
const linesPerSecond = Number(options.rate);
if (!(linesPerSecond >= 1 && linesPerSecond <= 1e6)) {
  say(`demo: --rate: must be 1 to 1000000 lines per second (got ${options.rate})`);
  process.exit(1);
}
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
// The reader of the output has ended (`npm run demo | head`), so the service must stop too.
process.stdout.on('error', () => stop.abort());

const dataDir = mkdtempSync(join(tmpdir(), 'candor-demo-'));
let service: Service | undefined;
try {
  const password = `demo-${crypto.randomUUID().slice(0, 13)}`;
  service = await start(password);
  await Promise.race([run(service, password), died(service)]);
} catch (error) {
  if (!stop.signal.aborted) {
    say(`demo: ${error instanceof Error ? error.message : String(error)}`);
    for (const line of complaints(service)) say(dim(`  ${line}`));
    process.exitCode = 1;
  }
} finally {
  if (service !== undefined && !(await stopService(service))) process.exitCode = 1;
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();

async function run({ url }: Service, password: string): Promise<void> {
  say(`${bold('Candor')} listens at ${bold(url)}`);
  say(dim(`  log in as admin with ${password}; data is in ${dataDir} until the demo ends`));
  const admin = createClient({ baseUrl: url });
  const { access_token } = await admin.call('login', { body: { username: 'admin', password } });
  admin.setToken(access_token);
  const sensor = createClient({ baseUrl: url, token: await issue(admin, 'sensor') });
  const viewerToken = await issue(admin, 'viewer');
  const viewer = createClient({ baseUrl: url, token: viewerToken });
  const log = httpLog(url, { token: await issue(admin, 'auditor') });
  const alerts = await watchAlerts(url, viewerToken);

  const counts: FeedCounts = { sent: 0, stored: 0, rejected: 0, time: 0 };
  const pin = await firstPin(log);
  await playHistory(sensor, counts, { alerts, log }, pin);
  showNewest(alerts);
  if (stop.signal.aborted) return;
  await showRiskiest(viewer);
  await showLimits(admin);
  const [id, alert] = await firstProvable(alerts, pin);
  await proveAlert(log, id, alert, pin);
  if (!once) await goOn(sensor, counts, { alerts, log }, url, password);
  alerts.close();
}

/** State shown next to the feed's counts. */
interface Watched {
  readonly alerts: AlertFeed;
  readonly log: LogSource;
}

async function start(password: string): Promise<Service> {
  say('Starting the service …');
  const on = (port: string) => startService({ dataDir, env: { CANDOR_ADMIN_PASSWORD: password, CANDOR_PORT: port } });
  return on(process.env.CANDOR_PORT ?? '8080').catch((error: Error) => {
    // The port is in use: let the system choose a free port.
    if (error.message.includes('cannot listen')) return on('0');
    throw error;
  });
}

/** Issues a token for a machine, which expires after a day. */
async function issue(admin: Client, role: Role): Promise<string> {
  const expires_at = new Date(Date.now() + 24 * hourMs).toISOString();
  const answer = await admin.call('issueToken', {
    body: { name: `demo ${role}`, scopes: [role], expires_at },
  });
  return answer.data.attributes.token;
}

/**
 * Returns the head that the auditor later compares with the log. Waits for the log's first entries, which record the
 * tokens that were just issued.
 */
async function firstPin(log: LogSource): Promise<Pin> {
  for (let tries = 0; tries < 50; tries++) {
    const result = await audit(log, undefined, { now: Date.now() });
    if (result.status === 'pinned') return result.pin;
    if (result.status === 'fault' && result.fault.kind !== 'unavailable') throw new Error(result.fault.message);
    await sleep(200);
  }
  throw new Error('the log has no entry after 10 s');
}

async function playHistory(sensor: Client, counts: FeedCounts, watched: Watched, pin: Pin): Promise<void> {
  const now = Date.now();
  const office = { seed, shiftMs: officeAfternoon - now, linesPerSecond: 1 };
  const lines = traffic({
    ...office,
    start: now - historyMs,
    campaignMs: 5 * hourMs,
    alarmGapMs: 4 * 60_000,
  });
  say(
    `Playing the last ${historyMs / hourMs} hours of an office, ${linesPerSecond.toLocaleString('en')} lines per second:`,
  );
  say(dim(`  the auditor has pinned the log at size ${pin.head.size}`));
  const done = new AbortController();
  const shown = showProgress(counts, watched, done.signal);
  await feed(sensor, lines, steadily(linesPerSecond, now), counts, stop.signal);
  done.abort();
  await shown;
  if (counts.rejected > 0) throw new Error(`${counts.rejected} of ${counts.sent} lines were rejected`);
}

async function goOn(
  sensor: Client,
  counts: FeedCounts,
  watched: Watched,
  url: string,
  password: string,
): Promise<void> {
  say();
  say(`The office continues in real time. ${bold(url)}, user ${bold('admin')}, password ${bold(password)}`);
  say(dim(`  check it yourself: node scripts/candor.js audit ${url}`));
  say(dim('  Ctrl-C ends the demo'));
  const now = Date.now();
  const office = { seed: seed + 1, shiftMs: officeAfternoon - now, linesPerSecond: 10 };
  const lines = traffic({ ...office, start: now, campaignMs: hourMs / 2, alarmGapMs: 30_000 });
  const shown = showProgress(counts, watched, stop.signal, process.stdout.isTTY ? 1000 : 60_000);
  await feed(sensor, lines, live, counts, stop.signal);
  await shown;
}

async function showProgress(
  counts: FeedCounts,
  { alerts, log }: Watched,
  signal: AbortSignal,
  everyMs = refreshMs,
): Promise<void> {
  const start = performance.now();
  const before = counts.stored;
  const number = (n: number) => Math.round(n).toLocaleString('en');
  const line = async () => {
    const seconds = (performance.now() - start) / 1000;
    const rate = number((counts.stored - before) / Math.max(seconds, 1));
    const head = parseTreeHead(String(await log.get('/api/transparency/sth')));
    const size = head instanceof AuditFault ? 'unknown' : number(head.size);
    const sent = `${number(counts.sent)} sent, ${number(counts.stored)} stored, ${rate}/s`;
    update(`  ${sent.padEnd(38)} log ${size.padEnd(4)} alerts: ${alerts.summary()}`);
  };
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await line();
  }
  if (!stop.signal.aborted) await line();
}

function showNewest(alerts: AlertFeed): void {
  const newest = [...alerts.alerts.values()].sort((a, b) => b.last_seen.localeCompare(a.last_seen)).slice(0, 8);
  say('The newest alerts:');
  for (const { severity, title, count, src_ip, dst_ip } of newest) {
    const ends = [src_ip, dst_ip].filter((ip) => ip !== undefined).join(' → ');
    say(`  ${severityText(severity, 13)} ${title.slice(0, 56).padEnd(56)} ${String(count).padStart(4)}×  ${dim(ends)}`);
  }
}

/** Shows the assets found in the traffic, which were not configured. */
async function showRiskiest(viewer: Client): Promise<void> {
  const assets = await viewer.call('listAssets', { query: { sort: '-risk_score', per_page: 6 } });
  const services = await viewer.call('listServices', { query: { per_page: 1 } });
  say(`Found ${assets.pagination.total} machines that offer ${services.pagination.total} services. Most at risk:`);
  for (const { attributes } of assets.data) {
    const { name, ip_addresses, risk_score, risk_level, open_alerts, service_count } = attributes;
    const risk = `${String(risk_score).padStart(3)} ${risk_level}`;
    const what = `open alerts: ${open_alerts}, services: ${service_count}`;
    const addresses = ip_addresses.filter((ip) => ip !== name).slice(0, 2);
    say(`  ${risk.padEnd(13)} ${name.slice(0, 40).padEnd(40)} ${what.padEnd(30)} ${dim(addresses.join(' '))}`);
  }
}

/** Shows the limits that the traffic reached. */
async function showLimits(admin: Client): Promise<void> {
  const { limits_reached: reached } = (await admin.call('getStatus')).data.attributes;
  const list = reached.map(({ limit, times }) => `${limit} ${times}×`).join(', ');
  say(`Limits reached since the start: ${list || 'none'}`);
}

/** Waits for an alert that was logged after the pin. Returns a critical alert if there is one. */
async function firstProvable(alerts: AlertFeed, pin: Pin): Promise<[string, Alert]> {
  for (let tries = 0; tries < 100; tries++) {
    const logged = [...alerts.alerts].filter(
      ([, { transparency }]) => (transparency?.leaf_index ?? -1) >= pin.head.size,
    );
    const critical = logged.find(([, { severity }]) => severity === 'critical') ?? logged[0];
    if (critical !== undefined) return critical;
    await sleep(200);
  }
  throw new Error('no alert reached the log within 20 s');
}

async function died(running: Service): Promise<never> {
  const code = await running.ended;
  throw new Error(`the service ended with ${code}:\n${running.output.slice(-5).join('\n')}`);
}

/**
 * Returns the service's own explanation of a failure: its latest log lines at level error (50) or fatal (60).
 */
function complaints(running: Service | undefined): string[] {
  return (running?.output ?? []).filter((line) => /^\{"level":[56]0,/.test(line)).slice(-3);
}

async function stopService(running: Service): Promise<boolean> {
  say('Stopping …');
  const code = await running.stop().catch(() => running.ended);
  if (code !== 0) say(`demo: the service ended with ${code}`);
  return code === 0;
}
