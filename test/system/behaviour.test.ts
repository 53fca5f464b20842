/**
 * Behaviour detection in the running service: findings are sent live and logged automatically, and do not
 * change with restarts and kills; clocks may be wrong, and detectors may be disabled.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { type TrafficLine, traffic } from '../../scripts/traffic/index.ts';
import { type Live, openLive } from '../../src/client/live.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { limits } from '../../src/limits.ts';
import { call, listAll, send } from './call.ts';
import { alertsAfter, counted, type FoundAlert, inBodies } from './counted.ts';

/** Timeout that suffices on a busy machine. */
const patienceMs = 180_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A campaign of attacks on a working morning, without the alerts of the sensors. */
const wednesday = Date.UTC(2025, 2, 12, 8);

function campaign(isKept: (line: TrafficLine) => boolean = () => true): TrafficLine[] {
  const lines: TrafficLine[] = [];
  for (const line of traffic({ seed: 1, start: wednesday, linesPerSecond: 1 })) {
    if (line.time >= wednesday + 4 * hourMs) return lines;
    if (line.truth !== 'sensor-alert' && isKept(line)) lines.push(line);
  }
  return lines;
}

const texts = (lines: readonly TrafficLine[]) => lines.map(({ line }) => line);
const only = (...truths: TrafficLine['truth'][]) => texts(campaign(({ truth }) => truths.includes(truth)));

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

describe('the alert of a tunnel that starts while a subscriber is connected', () => {
  let service: Service;
  let live: Live | undefined;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    live?.close();
    expect(await service.stop()).toBe(0);
  });

  test('is sent within seconds, and logged, without further events or requests', async () => {
    const seen: Alert[] = [];
    const token = await tokenFor(service, 'viewer');
    const opened = openLive({
      baseUrl: service.url,
      token: async () => ({ token, expiresAt: Number.POSITIVE_INFINITY }),
      onState: () => undefined,
    });
    live = opened;
    await new Promise<void>((resolve, reject) => {
      opened.subscribe(
        'alerts',
        {},
        {
          onSubscribed: () => resolve(),
          onEvent: ({ data }) => seen.push(data.attributes),
          onError: reject,
        },
      );
    });
    await send(service, await tokenFor(service, 'sensor'), only('dns-tunnel').join('\n'));
    const tunnel = () => seen.filter(({ rule_id }) => rule_id === 'behaviour.dns-tunnel');
    await expect.poll(() => tunnel().length, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(tunnel()[0]).toMatchObject({ severity: 'high', domain: 'cdn-sync.example', status: 'new' });
    const logged = () => seen.filter(({ transparency }) => transparency !== undefined);
    await expect
      .poll(() => logged().map(({ rule_id }) => rule_id), { timeout: 60_000 })
      .toContain('behaviour.dns-tunnel');
  });
});

describe('a campaign', { timeout: patienceMs }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-behaviour-'));
  const bodies = inBodies(texts(campaign()), 3000);
  let undisturbed: Essence[];

  beforeAll(async () => {
    const service = await startService();
    undisturbed = essence(await alertsAfter(service, await login(service), bodies));
    expect(undisturbed.length).toBeGreaterThanOrEqual(7);
    expect(await service.stop()).toBe(0);
  }, patienceMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('raises the same alerts with a restart in the middle', async () => {
    const dataDir = join(folder, 'restarted');
    const first = await startService({ dataDir });
    const token = await login(first);
    for (const body of bodies.slice(0, 3)) await send(first, token, body);
    expect(await first.stop()).toBe(0);
    const second = await startService({ dataDir });
    const alerts = await alertsAfter(second, await login(second), bodies.slice(3));
    expect(await second.stop()).toBe(0);
    expectSame(alerts, undisturbed);
  });

  test('raises the same alerts with repeated kills, while sensors repeat unanswered bodies', async () => {
    const dataDir = join(folder, 'killed');
    let service = await startService({ dataDir });
    let token = await login(service);
    const deliver = (body: string, key: string) => send(service, token, body, { headers: { 'idempotency-key': key } });
    for (const [n, body] of bodies.entries()) {
      const answer = deliver(body, `campaign-${n}`).then(
        () => true,
        () => false,
      );
      // The service is killed before or while a body is stored, after its response and possibly before
      // evaluation, and at the end.
      const isEnd = n === bodies.length - 1;
      if (n === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      else expect(await answer).toBe(true);
      if (n !== 1 && n !== 3 && !isEnd) continue;
      await service.kill();
      const isTaken = await answer;
      service = await startService({ dataDir });
      token = await login(service);
      if (!isTaken) await deliver(body, `campaign-${n}`);
    }
    const alerts = await alertsAfter(service, token, []);
    expect(await service.stop()).toBe(0);
    expectSame(alerts, undisturbed);
  });
});

describe('an alert with a pending refresh when the service is killed', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-behaviour-refresh-'));
  let service: Service | undefined;
  afterAll(async () => {
    await service?.kill().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('has its final figures after the next start, without new events', async () => {
    service = await startService({ dataDir });
    const token = await login(service);
    const now = Date.now() / 1000 - 600;
    /** Returns unanswered connections to the ports [from, to). */
    const tried = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) =>
        JSON.stringify({
          ...{ ts: now + from + i, uid: `C${from + i}`, 'id.orig_h': '10.44.0.1', 'id.orig_p': 40_000 },
          ...{ 'id.resp_h': '10.44.0.2', 'id.resp_p': 1000 + from + i, proto: 'tcp', conn_state: 'S0' },
        }),
      ).join('\n');
    const ends = [25, 40, 55, 70];
    for (const [n, to] of ends.entries()) await send(service, token, tried(ends[n - 1] ?? 0, to));
    await service.kill();

    service = await startService({ dataDir });
    const running = service;
    const scan = async () =>
      (await listAll(running, 'listAlerts', token)).find(
        ({ attributes }) => attributes.rule_id === 'behaviour.port-scan',
      )?.attributes as Alert | undefined;
    await expect.poll(async () => (await scan())?.evidence?.ports_in_vain, { timeout: 60_000 }).toBe(ends.at(-1));
    expect((await scan())?.count).toBe(1);
  });
});

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
  let service: Service;
  let admin: string;
  beforeAll(async () => {
    service = await startService();
    admin = await login(service);
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });
  const attacks = () => only('beacon', 'dns-tunnel');
  const rulesOf = async () =>
    new Set((await listAll(service, 'listAlerts', admin)).map(({ attributes }) => attributes.rule_id as string));

  test('are counted as late if bodies arrive in reverse order with events older than the window', async () => {
    const days = Array.from({ length: 3 }, (_, day) => skewed(attacks(), (day - 10) * dayMs).join('\n'));
    for (const body of days.reverse()) await send(service, admin, body);
    await counted(service, admin);
    expect(await limitsReached(service, admin)).toHaveProperty('maxBehaviourDelay');
    expect(await rulesOf()).toContain('behaviour.dns-tunnel');
  });

  test('are accepted from clocks two days ahead and ten years behind, and do not affect findings of correct clocks', async () => {
    const last = Math.max(...campaign().map(({ time }) => time));
    const toNow = Date.now() - last;
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
