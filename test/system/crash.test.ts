/**
 * Kill -9 at random moments under load, several times on one data folder. After each restart the sender repeats
 * unacknowledged bodies under the same Idempotency-Key, as a shipper does. In the end every event is stored
 * exactly once, and every alert at or above high is in the log exactly once with a valid proof. After each restart,
 * the log is consistent with an auditor's pin.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { audit, type Pin } from '../../src/client/auditor.ts';
import { httpLog } from '../../src/client/log-source.ts';

const rounds = 3;
const eventsPerBody = 50;
const dataDir = mkdtempSync(join(tmpdir(), 'candor-crash-'));
let running: Service | undefined;

afterAll(async () => {
  await running?.kill().catch(() => {});
  rmSync(dataDir, { recursive: true, force: true });
});

interface Body {
  readonly key: string;
  readonly text: string;
  acknowledged: boolean;
}

let made = 0;

/** Returns flows with unique names, and one alert of a new rule. */
function nextBody(): Body {
  const n = made++;
  const lines = Array.from(
    { length: eventsPerBody },
    (_, i) =>
      `{"ts":${1763683200 + n}.${i},"uid":"C${n}-${i}","id.orig_h":"10.0.${n % 250}.${i % 250}","id.orig_p":51000,"id.resp_h":"203.0.113.7","id.resp_p":443,"proto":"tcp","conn_state":"SF"}`,
  );
  lines.push(
    `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":${n + 1},"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":${1_000_000 + n},"rev":1,"signature":"Rule ${n}","category":"Test","severity":1}}`,
  );
  return { key: `body-${n}`, text: lines.join('\n'), acknowledged: false };
}

async function send(service: Service, token: string, body: Body): Promise<void> {
  const response = await fetch(`${service.url}/api/v1/ingest`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': body.key,
    },
    body: body.text,
  });
  const answer = (await response.json()) as { data: { accepted: number; rejected: number } };
  if (response.status === 503) return;
  expect(response.status, JSON.stringify(answer)).toBe(200);
  expect(answer.data).toMatchObject({ accepted: eventsPerBody + 1, rejected: 0 });
  body.acknowledged = true;
}

/** Checks that a start after a kill neither distrusts the log nor reports siem.mdb as older than the log. */
async function expectHealthy(service: Service): Promise<void> {
  const health = await (await fetch(`${service.url}/health`)).json();
  expect(health).toMatchObject({ ledger: 'ok' });
  expect((health as { findings?: unknown[] }).findings ?? []).toEqual([]);
}

/** Returns all pages of a list, by cursor. */
async function all<T>(service: Service, token: string, path: string): Promise<{ id: string; attributes: T }[]> {
  const items: { id: string; attributes: T }[] = [];
  let cursor: string | undefined;
  do {
    const url = new URL(path, service.url);
    url.searchParams.set('per_page', '1000');
    if (cursor !== undefined) url.searchParams.set('cursor', cursor);
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    const page = (await response.json()) as {
      data: { id: string; attributes: T }[];
      pagination: { next_cursor?: string };
    };
    items.push(...page.data);
    cursor = page.pagination.next_cursor;
  } while (cursor !== undefined);
  return items;
}

test('acknowledged events and alerts are stored exactly once, even if the service is killed repeatedly', async () => {
  const bodies: Body[] = [];
  let pin: Pin | undefined;
  let token: string | undefined;
  const expectGrown = async (service: Service) => {
    // Each start uses another free port, but the auditor must identify the log as the same.
    const log = { ...httpLog(service.url), url: 'http://log.test' };
    const result = await audit(log, pin, { now: Date.now() });
    if (result.status === 'fault') throw new Error(`${result.fault.code}: ${result.fault.message}`);
    if (result.status === 'empty') expect(pin).toBeUndefined();
    else pin = result.pin;
  };

  for (let round = 0; round < rounds; round++) {
    const service = await startService({
      dataDir,
      env: { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' },
    });
    running = service;
    await expectHealthy(service);
    token ??= await tokenFor(service, 'sensor');
    await expectGrown(service);
    const sensor = token;
    const pending = bodies.filter((body) => !body.acknowledged);
    let alive = true;
    const sender = async () => {
      while (alive) {
        const body = pending.pop() ?? nextBody();
        if (!bodies.includes(body)) bodies.push(body);
        // Connections that fail with the service are expected here.
        await send(service, sensor, body).catch((error) => {
          if (alive && !(error instanceof TypeError)) throw error;
        });
      }
    };
    const senders = Promise.all([sender(), sender(), sender()]);
    await Promise.race([senders, pause(100 + Math.random() * 500)]);
    alive = false;
    await service.kill();
    await senders;
  }

  const service = await startService({ dataDir });
  running = service;
  await expectHealthy(service);
  for (const body of bodies.filter((one) => !one.acknowledged)) await send(service, token ?? '', body);
  expect(bodies.every((body) => body.acknowledged)).toBe(true);
  const admin = await login(service);

  const events = await all<{ connection_id: string }>(service, admin, '/api/v1/events/network?source=zeek');
  expect(events.length).toBe(bodies.length * eventsPerBody);
  expect(new Set(events.map((event) => event.attributes.connection_id)).size).toBe(events.length);
  expect(new Set(events.map((event) => event.id)).size).toBe(events.length);

  // The outbox is drained after a start, so the last alerts are logged shortly afterwards.
  type Proven = { count: number; transparency?: { leaf_index: number } };
  let alerts: { id: string; attributes: Proven }[] = [];
  for (let tries = 0; tries < 100; tries++) {
    alerts = await all<Proven>(service, admin, '/api/v1/alerts');
    if (alerts.every((alert) => alert.attributes.transparency)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(alerts.length).toBe(bodies.length);
  expect(alerts.every((alert) => alert.attributes.count === 1)).toBe(true);
  const leaves = alerts.map((alert) => alert.attributes.transparency?.leaf_index);
  expect(new Set(leaves).size).toBe(alerts.length);

  // Every leaf of the log is one entry, and each raised alert is in exactly one entry.
  await expectGrown(service);
  const raised = new Map<string, number>();
  const ids = new Set<string>();
  const size = pin?.head.size ?? 0;
  for (let index = 0; index < size; index++) {
    const response = await fetch(`${service.url}/api/transparency/leaf?leaf_index=${index}`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    const { entry } = (await response.json()) as {
      entry: { id: string; kind: string; subject: { id: string } };
    };
    ids.add(entry.id);
    if (entry.kind === 'alert.raised') raised.set(entry.subject.id, index);
  }
  expect(ids.size).toBe(size);
  for (const alert of alerts) expect(raised.get(alert.id)).toBe(alert.attributes.transparency?.leaf_index);
  expect(raised.size).toBe(alerts.length);
  expect(await service.stop()).toBe(0);
});
