/**
 * Several sensors report the groups of a correlation late and interleaved, with as many groups as the
 * correlator keeps. The alerts are the same for any order of arrival within an hour, and groups beyond the
 * limit are counted.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { random } from '../../scripts/traffic/random.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import { correlationLimits } from '../../src/detect/sigma/correlation/correlation-limits.ts';
import { adminOf, openService, type Service } from './service.ts';

const groups = 6;
const usual = { ...correlationLimits };
const minuteMs = 60_000;
const start = Math.floor(Date.now() / minuteMs) * minuteMs - 150 * minuteMs;

let service: Service;
let admin: string;
const sensors: string[] = [];

beforeAll(async () => {
  Object.assign(correlationLimits, { groups });
  service = await openService();
  admin = await adminOf(service);
  for (let n = 0; n < 3; n++) sensors.push(await newSensor(`sensor-${n}`));
});
afterAll(async () => {
  Object.assign(correlationLimits, usual);
  await service.close();
});

async function newSensor(name: string): Promise<string> {
  const json = { name, kind: 'sensor', roles: ['sensor'] };
  const made = await service.call('createPrincipal', 'POST /api/v1/principals', { token: admin, json });
  const principal_id = (made.body as { data: { id: string } }).data.id;
  const token = { name, principal_id, scopes: ['sensor'] };
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', { token: admin, json: token });
  return (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
}

/** Makes a correlation over connections to a port, and returns its id. */
async function correlate(port: number): Promise<string> {
  const [base, id] = [crypto.randomUUID(), crypto.randomUUID()];
  const logsource = '{product: zeek, service: conn}';
  const detection = `{one: {id.resp_p: ${port}}, condition: one}`;
  const correlation = `{type: event_count, rules: [${base}], group-by: [id.orig_h], timespan: 2m, condition: {gte: 6}}`;
  for (const source of [
    `{title: Connection, id: ${base}, logsource: ${logsource}, detection: ${detection}}`,
    `{title: Many connections, id: ${id}, level: medium, correlation: ${correlation}}`,
  ]) {
    const made = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json: { source } });
    expect(made.status).toBe(201);
  }
  return id;
}

interface Line {
  readonly time: number;
  readonly host: number;
  readonly sensor: number;
}

async function send(port: number, lines: readonly Line[]): Promise<void> {
  for (let from = 0; from < lines.length; ) {
    const { sensor } = lines[from]!;
    let to = from;
    while (to < lines.length && lines[to]!.sensor === sensor) to++;
    const text = lines.slice(from, to).map(({ time, host }) =>
      JSON.stringify({
        ...{ _path: 'conn', ts: time / 1000, uid: `C${port}-${host}-${time}-${sensor}` },
        ...{ 'id.orig_h': `203.0.113.${host}`, 'id.orig_p': 40_000, 'id.resp_h': '198.51.100.7' },
        ...{ 'id.resp_p': port, proto: 'tcp', conn_state: 'SF' },
      }),
    );
    const headers = { 'content-type': 'application/x-ndjson' };
    const sent = { token: sensors[sensor]!, text: text.join('\n'), headers };
    expect((await service.call('ingest', 'POST /api/v1/ingest', sent)).status).toBe(200);
    from = to;
  }
}

/**
 * Two windows of each group: three lines of each sensor within a minute, and again 20 minutes later. No sensor
 * alone reaches the threshold in a window.
 */
const lines: Line[] = [0, 20]
  .flatMap((minute) =>
    Array.from({ length: groups * 9 }, (_, n) => {
      const [host, sensor, nth] = [1 + (n % groups), Math.floor(n / groups) % 3, Math.floor(n / groups / 3)];
      return { time: start + minute * minuteMs + host * 2000 + nth * 17_000 + sensor * 1000, host, sensor };
    }),
  )
  .sort((a, b) => a.time - b.time);

const rng = random(3);
const by = (key: (line: Line) => number) =>
  lines
    .map((line) => ({ line, key: key(line) }))
    .sort((a, b) => a.key - b.key)
    .map(({ line }) => line);
const orders: readonly (readonly [string, readonly Line[]])[] = [
  ['in order', lines],
  ['sensor by sensor', by(({ sensor }) => sensor)],
  ['sensor by sensor, each backwards', by(({ sensor, time }) => sensor * 1e15 - time)],
  ['in any order', by(() => rng.next())],
  ['in any order again', by(() => rng.next())],
];

async function alertsOf(rule: string) {
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?rule_id=${rule}`, { token: admin });
  return (body as { data: { attributes: Alert }[] }).data
    .map(({ attributes: { src_ip, count, first_seen, last_seen, evidence, sensors: by = [] } }) => ({
      ...{ src_ip, count, first_seen, last_seen, evidence },
      sensors: by.map(({ name }) => name).sort(),
    }))
    .sort((a, b) => (a.src_ip! < b.src_ip! ? -1 : 1));
}

async function groupsForgotten(): Promise<number> {
  const { body } = await service.call('getStatus', 'GET /api/v1/status', { token: admin });
  const { limits_reached } = (body as { data: { attributes: Status } }).data.attributes;
  return limits_reached.find(({ limit }) => limit === 'maxCorrelationGroups')?.times ?? 0;
}

const wanted = Array.from({ length: groups }, (_, n) => ({
  src_ip: `203.0.113.${n + 1}`,
  count: 2,
  first_seen: new Date(start + (n + 1) * 2000).toISOString(),
  last_seen: new Date(start + 20 * minuteMs + (n + 1) * 2000 + 36_000).toISOString(),
  evidence: expect.objectContaining({ matches: 9, value: 9, threshold: 6 }),
  sensors: ['sensor-0', 'sensor-1', 'sensor-2'],
}));

test('groups up to the limit raise the same alerts, whatever the order of lines', async () => {
  for (const [n, [, arriving]] of orders.entries()) {
    const rule = await correlate(4000 + n);
    await send(4000 + n, arriving);
    await expect.poll(() => alertsOf(rule), { timeout: 60_000, message: orders[n]![0] }).toEqual(wanted);
  }
  expect(await groupsForgotten()).toBe(0);
});

test('groups forgotten above the limit while their lines may still arrive are counted in the status', async () => {
  const rule = await correlate(5000);
  const before = await groupsForgotten();
  const first = lines.filter(({ sensor, time }) => sensor === 0 && time < start + 10 * minuteMs);
  await send(5000, first);
  const others = Array.from({ length: groups }, (_, n) => ({
    ...{ time: start + 30 * minuteMs + n, host: 101 + n, sensor: 0 },
  }));
  await send(5000, others);
  expect(await groupsForgotten()).toBe(before + groups);
  await send(
    5000,
    lines.filter(({ sensor, time }) => sensor === 1 && time < start + 10 * minuteMs),
  );
  expect(await alertsOf(rule)).toEqual([]);
});
