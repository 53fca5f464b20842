/**
 * Behaviour in the running service: told live and logged by itself, over restarts and kills as without them, of clocks
 * that are wrong, and without the detectors that are off.
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

/** On a busy machine. */
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

/** The same lines by a clock that is so far off. */
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
  /** Rule, ends and severity. */
  readonly alert: string;
  readonly score: number;
}

/** What an analyst would call the same alert. */
const essence = (alerts: readonly FoundAlert[]): Essence[] =>
  alerts
    .map(({ attributes: { rule_id, src_ip, dst_ip, dst_port, severity, evidence } }) => ({
      alert: [rule_id, src_ip, dst_ip, dst_port, severity].join(' '),
      score: Number(evidence?.score ?? 0),
    }))
    .sort((a, b) => (a.alert < b.alert ? -1 : 1));

/** A score is that of the moment at which it was looked at, which is after some more events or some fewer. */
function expectSame(alerts: readonly FoundAlert[], wanted: readonly Essence[]): void {
  const found = essence(alerts);
  expect(found.map(({ alert }) => alert)).toEqual(wanted.map(({ alert }) => alert));
  for (const [n, { alert, score }] of found.entries())
    expect(Math.abs(score - wanted[n]!.score), alert).toBeLessThan(0.1);
}

async function limitsReached(service: Service, token: string): Promise<Record<string, number>> {
  const { body } = await call(service, 'getStatus', { token });
  const { limits_reached } = (
    body as { data: { attributes: { limits_reached: { limit: string; times: number }[] } } }
  ).data.attributes;
  return Object.fromEntries(limits_reached.map(({ limit, times }) => [limit, times]));
}

describe('a tunnel that begins while somebody watches', () => {
  let service: Service;
  let live: Live | undefined;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    live?.close();
    expect(await service.stop()).toBe(0);
  });

  test('is told within seconds, and gets into the log, though nobody sends or asks for more', async () => {
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
    await expect.poll(() => tunnel().length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(tunnel()[0]).toMatchObject({ severity: 'high', domain: 'cdn-sync.example', status: 'new' });
    const logged = () => seen.filter(({ transparency }) => transparency !== undefined);
    await expect
      .poll(() => logged().map(({ rule_id }) => rule_id), { timeout: 20_000 })
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

  test('gives the same alerts where the service was restarted in its middle', async () => {
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

  test('gives the same alerts where it was killed again and again, sensors sending what was not answered', async () => {
    const dataDir = join(folder, 'killed');
    let service = await startService({ dataDir });
    let token = await login(service);
    const deliver = (body: string, key: string) =>
      send(service, token, body, { headers: { 'idempotency-key': key } });
    for (const [n, body] of bodies.entries()) {
      const answer = deliver(body, `campaign-${n}`).then(
        () => true,
        () => false,
      );
      // Before it is stored or while it is, when it was answered and may not be counted, and at the end.
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

describe('an alert whose refresh waits when the service is killed', () => {
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
    /** Ports [from, to) tried without an answer. */
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
    await expect
      .poll(async () => (await scan())?.evidence?.ports_in_vain, { timeout: 20_000 })
      .toBe(ends.at(-1));
    expect((await scan())?.count).toBe(1);
  });
});

describe('detectors that are off', () => {
  test('find nothing, and the others go on', async () => {
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

  test('must be known: another name is refused at the start, with those that there are', async () => {
    const start = startService({ env: { CANDOR_DETECTION_DETECTORS_OFF: 'beaconing,tarot' } });
    const { message } = await start.then(
      () => new Error('it started'),
      (error: Error) => error,
    );
    const lines = message.split('\n').filter((line) => line.startsWith('candor: '));
    expect(lines).toHaveLength(1);
    for (const word of ['CANDOR_DETECTION_DETECTORS_OFF', 'tarot', 'beaconing'])
      expect(lines[0]).toContain(word);
  });
});

describe('times that are wrong', () => {
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
    new Set(
      (await listAll(service, 'listAlerts', admin)).map(({ attributes }) => attributes.rule_id as string),
    );

  test('bodies in reverse order, older than their window, are counted as late', async () => {
    const days = Array.from({ length: 3 }, (_, day) => skewed(attacks(), (day - 10) * dayMs).join('\n'));
    for (const body of days.reverse()) await send(service, admin, body);
    await counted(service, admin);
    expect(await limitsReached(service, admin)).toHaveProperty('maxBehaviourDelay');
    expect(await rulesOf()).toContain('behaviour.dns-tunnel');
  });

  test('clocks two days ahead and ten years behind are taken, and what is in order is found beside them', async () => {
    const last = Math.max(...campaign().map(({ time }) => time));
    const toNow = Date.now() - last;
    for (const ms of [toNow + 2 * dayMs, toNow - 3650 * dayMs])
      expect(await send(service, admin, skewed(attacks(), ms).join('\n'))).toMatchObject({ rejected: 0 });
    await counted(service, admin);
    expect(await limitsReached(service, admin)).toHaveProperty('maxClockLeadMs');

    // Another office, whose clocks are right: in order, and in the windows of its hosts.
    const others = skewed(attacks(), toNow).map((line) => line.replaceAll('"10.20.', '"10.30.'));
    const alerts = await alertsAfter(service, admin, inBodies(others, 500));
    const rules = alerts
      .filter(({ attributes }) => attributes.src_ip?.startsWith('10.30.'))
      .map(({ attributes }) => attributes.rule_id);
    expect(rules).toEqual(expect.arrayContaining(['behaviour.beaconing', 'behaviour.dns-tunnel']));
    // What is said of the future happened when it came.
    const latest = Math.max(...alerts.map(({ attributes }) => Date.parse(attributes.last_seen)));
    expect(latest).toBeLessThanOrEqual(Date.now() + limits.maxClockLeadMs);
  });

  test('a connection lasted no longer than until it was told, whatever its sensor says', async () => {
    const conn = (host: string, ts: number, duration: number) =>
      JSON.stringify({
        ...{ ts, uid: `C${host}`, 'id.orig_h': host, 'id.orig_p': 40_000, 'id.resp_h': '198.51.100.77' },
        ...{ 'id.resp_p': 8443, proto: 'tcp', conn_state: 'SF', duration, orig_bytes: 10, resp_bytes: 10 },
      });
    const now = Date.now() / 1000;
    const day = dayMs / 1000;
    await send(
      service,
      admin,
      [conn('10.40.0.1', now - 60, 1e9), conn('10.40.0.2', now - day, 1e9)].join('\n'),
    );
    await counted(service, admin);
    const alerts = await listAll(service, 'listAlerts', admin);
    const long = alerts.filter(({ attributes }) => String(attributes.src_ip).startsWith('10.40.'));
    expect(long.map(({ attributes: { rule_id, src_ip } }) => [rule_id, src_ip])).toEqual([
      ['behaviour.long-connection', '10.40.0.2'],
    ]);
    expect(Date.parse(String(long[0]!.attributes.last_seen))).toBeLessThanOrEqual(
      Date.now() + limits.maxClockLeadMs,
    );
  });
});
