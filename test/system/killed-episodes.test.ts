/**
 * Kill -9 between the report of an episode and the next refresh of its alert, with two episodes in each
 * group. After the restart, alerts and their figures equal the alerts of a service that received the same
 * lines without interruption.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, type Item, listAll, send } from './call.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Length of a slot in the port scan detector. */
const slotMs = 4 * hourMs;
/** Start of a slot in the past. */
const start = Math.floor(Date.now() / slotMs) * slotMs - 11 * slotMs;

const opened: Service[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const service of opened.splice(0)) await service.kill().catch(() => undefined);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Returns refused connections, one per second. */
const refused = (at: number, count: number, src: string, dst: string, port: number, step: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      ...{ _path: 'conn', ts: at / 1000 + n, uid: `C${src}-${at}-${n}`, 'id.orig_h': src },
      ...{ 'id.orig_p': 40_000 + n, 'id.resp_h': dst, 'id.resp_p': port + n * step, proto: 'tcp' },
      ...{ conn_state: 'REJ', orig_pkts: 1, resp_pkts: 1, orig_ip_bytes: 40, resp_ip_bytes: 40 },
    }),
  );
const scan = (at: number, src: string, from: number, count: number) => refused(at, count, src, '10.1.0.9', from, 1);
const attempts = (at: number, src: string, count: number) => refused(at, count, src, '203.0.113.9', 25, 0);

const rule = 'b1c7a5de-3f0d-4c1a-9a50-1f7a2a5b9c02';
const rules = [
  `title: Refused connection to a mail server
id: b1c7a5de-3f0d-4c1a-9a50-1f7a2a5b9c01
logsource: { product: zeek, service: conn }
detection: { one: { conn_state: REJ, id.resp_p: 25 }, condition: one }
`,
  `title: Many refused connections to mail servers
id: ${rule}
level: medium
correlation:
  type: event_count
  rules: [b1c7a5de-3f0d-4c1a-9a50-1f7a2a5b9c01]
  group-by: [id.orig_h]
  timespan: 1m
  condition: { gte: 5 }
`,
];

/** A service with a separate data folder. A kill replaces its process. */
class Watched {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'candor-episodes-'));
  #service!: Service;
  #admin!: string;
  #sensor!: string;

  async begin(): Promise<this> {
    folders.push(this.#dataDir);
    mkdirSync(join(this.#dataDir, 'rules'), { mode: 0o700 });
    writeFileSync(join(this.#dataDir, 'rules', 'both.yml'), rules.join('---\n'));
    await this.#start();
    this.#sensor = await tokenFor(this.#service, 'sensor');
    return this;
  }

  send(lines: readonly string[]) {
    return send(this.#service, this.#sensor, lines.join('\n'));
  }

  async restart(): Promise<void> {
    await this.#service.kill();
    await this.#start();
  }

  alerts(): Promise<Item[]> {
    return listAll(this.#service, 'listAlerts', this.#admin);
  }

  async resolveScan(source: string): Promise<void> {
    const query = `rule_id=behaviour.port-scan&src_ip=${source}`;
    const scans = () => listAll(this.#service, 'listAlerts', this.#admin, query);
    await expect.poll(scans, { timeout: 60_000 }).toHaveLength(1);
    const [{ id }] = (await scans()) as [Item];
    const json = { status: 'resolved' };
    await call(this.#service, 'updateAlert', { token: this.#admin, params: [id], json });
  }

  async #start(): Promise<void> {
    this.#service = await startService({
      dataDir: this.#dataDir,
      env: { CANDOR_NETWORK_HOME: '10.0.0.0/8' },
    });
    opened.push(this.#service);
    this.#admin = await login(this.#service);
  }
}

async function figuresOf(watched: Watched) {
  const alerts = await watched.alerts();
  const figures = alerts.map(({ attributes }) => {
    const { rule_id, src_ip, title, description, severity, evidence } = attributes;
    const { status, count, first_seen, last_seen } = attributes;
    return { rule_id, src_ip, first_seen, last_seen, count, title, description, severity, evidence, status };
  });
  const name = (one: (typeof figures)[number]) => `${one.rule_id} ${one.src_ip} ${one.first_seen}`;
  return figures.sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

/** Returns the figures once they have not changed for longer than a refresh may take. */
async function settledFigures(watched: Watched) {
  for (let before = ''; ; ) {
    const figures = await figuresOf(watched);
    if (JSON.stringify(figures) === before) return figures;
    before = JSON.stringify(figures);
    await pause(2500);
  }
}

/** A time after the first slot and after its window, so that the earlier ports no longer count. */
const again = start + 6 * slotMs + 5 * minuteMs;
const nextDay = start + 3.7 * hourMs + 26 * hourMs;
const bodies: readonly (readonly string[])[] = [
  [
    ...scan(start + 3.2 * hourMs, '10.1.0.5', 1, 120),
    ...scan(start + 3.2 * hourMs, '10.1.0.6', 1, 120),
    ...attempts(start, '10.1.0.7', 5),
  ],
  [...scan(start + 3.2 * hourMs + 2 * minuteMs, '10.1.0.5', 121, 500), ...attempts(start + 20_000, '10.1.0.7', 2)],
  [...scan(again, '10.1.0.5', 2000, 300), ...attempts(start + 10 * minuteMs, '10.1.0.7', 5)],
  [...scan(nextDay, '10.1.0.6', 3000, 40), ...attempts(start + 10 * minuteMs + 20_000, '10.1.0.7', 3)],
  [...scan(nextDay + minuteMs, '10.1.0.6', 3100, 10), ...attempts(start + 10 * minuteMs + 40_000, '10.1.0.7', 2)],
  attempts(start + 10 * minuteMs + 50_000, '10.1.0.7', 3),
];

test('alerts of interrupted episodes equal the alerts of an uninterrupted service', async () => {
  const [whole, killed] = await Promise.all([new Watched().begin(), new Watched().begin()]);
  for (const watched of [whole, killed])
    for (const [n, lines] of bodies.entries()) {
      if (n === 3) await watched.resolveScan('10.1.0.6');
      await watched.send(lines);
    }
  await killed.restart();
  const [wanted, found] = await Promise.all([settledFigures(whole), settledFigures(killed)]);
  const scans = wanted.filter(({ rule_id }) => rule_id === 'behaviour.port-scan');
  expect(scans.map(({ evidence }) => (evidence as { ports_in_vain: number }).ports_in_vain)).toEqual([620, 120, 50]);
  expect(wanted.find(({ rule_id }) => rule_id === rule)).toMatchObject({
    count: 2,
    evidence: { matches: 13 },
  });
  expect(found).toEqual(wanted);
});
