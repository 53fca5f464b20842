/**
 * Behaviour detection in the running service: findings are sent live and logged automatically, and do not
 * change with restarts and kills; clocks may be wrong, and detectors may be disabled.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { type TrafficLine, traffic } from '../../scripts/traffic/index.ts';
import { openLive } from '../../src/client/live.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { limits } from '../../src/limits.ts';
import { call, type Item, listAll, send } from './call.ts';
import { alertsAfter, counted, type FoundAlert, inBodies } from './counted.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A campaign of attacks on a working morning, without the alerts of the sensors. */
const wednesday = Date.UTC(2025, 2, 12, 8);

const campaign: TrafficLine[] = [];
for (const line of traffic({ seed: 1, start: wednesday, linesPerSecond: 1 })) {
  if (line.time >= wednesday + 4 * hourMs) break;
  if (line.truth !== 'sensor-alert') campaign.push(line);
}

const texts = (lines: readonly TrafficLine[]) => lines.map(({ line }) => line);
/** Time of the last line of the campaign. */
const lastTime = Math.max(...campaign.map(({ time }) => time));
const only = (...truths: TrafficLine['truth'][]) => texts(campaign.filter(({ truth }) => truths.includes(truth)));

/** Returns the lines as written by a clock that is off by `ms`. */
function skewed(lines: readonly string[], ms: number): string[] {
  return lines.map((line) => {
    const record = JSON.parse(line) as Record<string, unknown>;
    if (typeof record.ts === 'number') record.ts = Number((record.ts + ms / 1000).toFixed(6));
    for (const part of [record, record.flow as Record<string, unknown> | undefined])
      for (const name of ['timestamp', 'start', 'end'])
        if (typeof part?.[name] === 'string')
          part[name] = new Date(Date.parse(part[name]) + ms).toISOString().replace('Z', '000+0000');
    return JSON.stringify(record);
  });
}

interface Essence {
  /** Rule, source, target and severity. */
  readonly alert: string;
  readonly score: number;
}

/** Returns the attributes by which an analyst compares alerts. */
const essence = (alerts: readonly FoundAlert[]): Essence[] =>
  alerts
    .map(({ attributes: { rule_id, src_ip, dst_ip, dst_port, severity, evidence } }) => ({
      alert: [rule_id, src_ip, dst_ip, dst_port, severity].join(' '),
      score: Number(evidence?.score ?? 0),
    }))
    .sort((a, b) => (a.alert < b.alert ? -1 : 1));

/** Scores may differ a little: they depend on the number of events at the time of evaluation. */
function expectSame(alerts: readonly FoundAlert[], wanted: readonly Essence[]): void {
  const found = essence(alerts);
  expect(found.map(({ alert }) => alert)).toEqual(wanted.map(({ alert }) => alert));
  for (const [n, { alert, score }] of found.entries())
    expect(Math.abs(score - wanted[n]!.score), alert).toBeLessThan(0.1);
}

async function limitsReached(service: Service, token: string): Promise<Record<string, number>> {
  const { body } = await call(service, 'getStatus', { token });
  const { limits_reached } = (body as { data: { attributes: { limits_reached: { limit: string; times: number }[] } } })
    .data.attributes;
  return Object.fromEntries(limits_reached.map(({ limit, times }) => [limit, times]));
}

const bodies = inBodies(texts(campaign), 3000);
/** A service that receives the campaign without a restart, and then all other events. */
let service: Service;
let admin: string;
/** The alerts of the campaign. */
let undisturbed: Essence[];

beforeAll(async () => {
  service = await startService();
  admin = await login(service);
  undisturbed = essence(await alertsAfter(service, admin, bodies));
  expect(undisturbed.length).toBeGreaterThanOrEqual(7);
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
});

describe('a campaign during a restart and repeated kills, while sensors repeat unanswered bodies', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-behaviour-'));
  let disturbed: Service | undefined;
  afterAll(async () => {
    await disturbed?.kill().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('raises the same alerts, and an alert with a pending refresh has its final figures', async () => {
    let running = await startService({ dataDir });
    disturbed = running;
    let token = await login(running);
    const again = async () => {
      running = await startService({ dataDir });
      disturbed = running;
      token = await login(running);
    };
    const deliver = (body: string, key: string) => send(running, token, body, { headers: { 'idempotency-key': key } });
    expect(bodies.length).toBeGreaterThanOrEqual(4);
    for (const [n, body] of bodies.entries()) {
      const answer = deliver(body, `campaign-${n}`).then(
        () => true,
        () => false,
      );
      // The service is killed before or while a body is stored, stopped, killed after its response and possibly before
      // evaluation, and killed at the end.
      const isEnd = n === bodies.length - 1;
      if (n === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      else expect(await answer).toBe(true);
      if (isEnd)
        for (const [at, to] of scanEnds.entries()) await send(running, token, tried(scanEnds[at - 1] ?? 0, to));
      if (n === 2) expect(await running.stop()).toBe(0);
      else if (n === 1 || n === 3 || isEnd) await running.kill();
      else continue;
      const isTaken = await answer;
      await again();
      if (!isTaken) await deliver(body, `campaign-${n}`);
    }

    const ofScan = ({ attributes }: Item) => attributes.src_ip === scanner;
    const scan = async () => {
      const alerts = await listAll(running, 'listAlerts', token, 'rule_id=behaviour.port-scan');
      return alerts.find(ofScan)?.attributes as Alert | undefined;
    };
    await expect.poll(async () => (await scan())?.evidence?.ports_in_vain, { timeout: 60_000 }).toBe(scanEnds.at(-1));
    expect((await scan())?.count).toBe(1);
    const alerts = await alertsAfter(running, token, []);
    expectSame(
      alerts.filter((alert) => !ofScan(alert)),
      undisturbed,
    );
    expect(await running.stop()).toBe(0);
  });
});

const scanner = '10.44.0.1';
/** Numbers of ports that a scan after the campaign has tried at the end of each body. */
const scanEnds = [25, 40, 55, 70];

/** Returns unanswered connections to the ports [from, to). */
function tried(from: number, to: number): string {
  const start = wednesday / 1000 + 4 * 3600;
  return Array.from({ length: to - from }, (_, i) =>
    JSON.stringify({
      ...{ ts: start + from + i, uid: `C${from + i}`, 'id.orig_h': scanner, 'id.orig_p': 40_000 },
      ...{ 'id.resp_h': '10.44.0.2', 'id.resp_p': 1000 + from + i, proto: 'tcp', conn_state: 'S0' },
    }),
  ).join('\n');
}

describe('disabled detectors', () => {
  test('do not report findings, and other detectors continue', async () => {
    const service = await startService({ env: { CANDOR_DETECTION_DETECTORS_OFF: 'beaconing, dns-tunnel' } });
    const alerts = await alertsAfter(service, await login(service), [
      only('beacon', 'dns-tunnel', 'port-scan').join('\n'),
    ]);
    const rules = new Set(alerts.map(({ attributes }) => attributes.rule_id));
    expect(rules).toContain('behaviour.port-scan');
    expect(rules).not.toContain('behaviour.beaconing');
    expect(rules).not.toContain('behaviour.dns-tunnel');
    expect(await service.stop()).toBe(0);
  });

  test('must exist: an unknown name is refused at the start, with a list of the known names', async () => {
    const start = startService({ env: { CANDOR_DETECTION_DETECTORS_OFF: 'beaconing,tarot' } });
    const { message } = await start.then(
      () => new Error('it started'),
      (error: Error) => error,
    );
    const lines = message.split('\n').filter((line) => line.startsWith('candor: '));
    expect(lines).toHaveLength(1);
    for (const word of ['CANDOR_DETECTION_DETECTORS_OFF', 'tarot', 'beaconing']) expect(lines[0]).toContain(word);
  });
});

describe('wrong times', () => {
  const attacks = () => only('beacon', 'dns-tunnel');

  test('are counted as late if bodies arrive in reverse order with events older than the window', async () => {
    expect(await limitsReached(service, admin)).not.toHaveProperty('maxBehaviourDelay');
    const days = Array.from({ length: 3 }, (_, day) => skewed(attacks(), (day + 8) * dayMs).join('\n'));
    const alerts = await alertsAfter(service, admin, days.reverse());
    expect(await limitsReached(service, admin)).toHaveProperty('maxBehaviourDelay');
    const later = alerts.filter(({ attributes }) => Date.parse(attributes.first_seen) > wednesday + 8 * dayMs);
    expect(later.map(({ attributes }) => attributes.rule_id)).toContain('behaviour.dns-tunnel');
  });

  test('are accepted from clocks two days ahead and ten years behind, and do not affect findings of correct clocks', async () => {
    const toNow = Date.now() - lastTime;
    for (const ms of [toNow + 2 * dayMs, toNow - 3650 * dayMs])
      expect(await send(service, admin, skewed(attacks(), ms).join('\n'))).toMatchObject({ rejected: 0 });
    await counted(service, admin);
    expect(await limitsReached(service, admin)).toHaveProperty('maxClockLeadMs');

    // Events of another office with correct clocks, in order and in the windows of its hosts.
    const others = skewed(attacks(), toNow).map((line) => line.replaceAll('"10.20.', '"10.30.'));
    const alerts = await alertsAfter(service, admin, inBodies(others, 500));
    const rules = alerts
      .filter(({ attributes }) => attributes.src_ip?.startsWith('10.30.'))
      .map(({ attributes }) => attributes.rule_id);
    expect(rules).toEqual(expect.arrayContaining(['behaviour.beaconing', 'behaviour.dns-tunnel']));
    // Events dated in the future are counted at their time of arrival.
    const latest = Math.max(...alerts.map(({ attributes }) => Date.parse(attributes.last_seen)));
    expect(latest).toBeLessThanOrEqual(Date.now() + limits.maxClockLeadMs);
  });

  test('do not let a connection end later than its report', async () => {
    const conn = (host: string, ts: number, duration: number) =>
      JSON.stringify({
        ...{ ts, uid: `C${host}`, 'id.orig_h': host, 'id.orig_p': 40_000, 'id.resp_h': '198.51.100.77' },
        ...{ 'id.resp_p': 8443, proto: 'tcp', conn_state: 'SF', duration, orig_bytes: 10, resp_bytes: 10 },
      });
    const now = Date.now() / 1000;
    const day = dayMs / 1000;
    await send(service, admin, [conn('10.40.0.1', now - 60, 1e9), conn('10.40.0.2', now - day, 1e9)].join('\n'));
    await counted(service, admin);
    const alerts = await listAll(service, 'listAlerts', admin);
    const long = alerts.filter(({ attributes }) => String(attributes.src_ip).startsWith('10.40.'));
    expect(long.map(({ attributes: { rule_id, src_ip } }) => [rule_id, src_ip])).toEqual([
      ['behaviour.long-connection', '10.40.0.2'],
    ]);
    expect(Date.parse(String(long[0]!.attributes.last_seen))).toBeLessThanOrEqual(Date.now() + limits.maxClockLeadMs);
  });
});

test('the alert of a tunnel is sent within seconds, and logged, without further events or requests', async () => {
  const host = '10.50.';
  const seen: Alert[] = [];
  const token = await tokenFor(service, 'viewer');
  const live = openLive({
    baseUrl: service.url,
    token: async () => ({ token, expiresAt: Number.POSITIVE_INFINITY }),
    onState: () => undefined,
  });
  onTestFinished(() => live.close());
  await new Promise<void>((resolve, reject) => {
    live.subscribe(
      'alerts',
      {},
      {
        onSubscribed: () => resolve(),
        onEvent: ({ data }) => seen.push(data.attributes),
        onError: reject,
      },
    );
  });
  const lines = skewed(only('dns-tunnel'), Date.now() - lastTime).map((line) => line.replaceAll('"10.20.', `"${host}`));
  await send(service, await tokenFor(service, 'sensor'), lines.join('\n'));
  const tunnel = () =>
    seen.filter(({ rule_id, src_ip }) => rule_id === 'behaviour.dns-tunnel' && src_ip?.startsWith(host));
  await expect.poll(() => tunnel().length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(tunnel()[0]).toMatchObject({ severity: 'high', domain: 'cdn-sync.example', status: 'new' });
  const isLogged = () => tunnel().some(({ transparency }) => transparency !== undefined);
  await expect.poll(isLogged, { timeout: 60_000 }).toBe(true);
});
