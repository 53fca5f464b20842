/** The same lines give the same alerts, whatever their order within an hour and however they are cut into bodies. */
import { beforeAll, expect, test } from 'vitest';
import { random } from '../../scripts/traffic/random.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type AttackLine, attackLines } from './attack-lines.ts';
import { adminOf, issue, openService } from './service.ts';

const hourMs = 3_600_000;
/** On a busy machine. */
const patienceMs = 120_000;

const rules = [
  `title: Refused connection
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a01
logsource: { product: zeek, service: conn }
detection: { one: { conn_state: REJ }, condition: one }
`,
  `title: Many refused connections
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a02
level: medium
correlation:
  type: event_count
  rules: [3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a01]
  group-by: [id.orig_h]
  timespan: 2m
  condition: { gte: 5 }
`,
  `title: Many refused ports
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a03
level: medium
correlation:
  type: value_count
  rules: [3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a01]
  group-by: [id.orig_h]
  timespan: 5m
  condition: { field: id.resp_p, gte: 10 }
`,
  `title: Connection to an FTP or SSH server
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a04
logsource: { product: zeek, service: conn }
detection: { one: { id.resp_p: [21, 22, 23] }, condition: one }
`,
  `title: Transfer
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a05
logsource: { product: zeek, service: conn }
detection: { one: { orig_bytes|gte: 900 }, condition: one }
`,
  `title: Server and transfer
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a06
level: medium
correlation:
  type: temporal
  rules: [3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a04, 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a05]
  group-by: [id.resp_h]
  timespan: 20m
`,
  `title: Transfer after a server
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a07
level: medium
correlation:
  type: temporal_ordered
  rules: [3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a04, 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a05]
  group-by: [id.orig_h]
  timespan: 15m
`,
  `title: Large transfers
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a08
level: medium
correlation:
  type: value_sum
  rules: [3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a05]
  group-by: [id.orig_h]
  timespan: 10m
  condition: { field: orig_bytes, gte: 10000 }
`,
];

function inBodies(lines: readonly AttackLine[], perBody: number): string[] {
  const texts = lines.map(({ line }) => line);
  const bodies: string[] = [];
  for (let at = 0; at < texts.length; at += perBody) bodies.push(texts.slice(at, at + perBody).join('\n'));
  return bodies;
}

/** By a time of arrival. */
function arriving(lines: readonly AttackLine[], at: (line: AttackLine) => number): AttackLine[] {
  return lines
    .map((line) => ({ line, at: at(line) }))
    .sort((a, b) => a.at - b.at)
    .map(({ line }) => line);
}

/** Each line up to an hour late. */
function late(lines: readonly AttackLine[]): AttackLine[] {
  const rng = random(7);
  return arriving(lines, ({ time }) => time + rng.next() * hourMs);
}

const reversed = (lines: readonly AttackLine[]) =>
  arriving(lines, ({ time }) => 2 * Math.floor(time / hourMs) * hourMs + hourMs - time);

interface Seen {
  readonly alert: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

async function alertsAfter(bodies: readonly string[]): Promise<Seen[]> {
  const service = await openService();
  try {
    const token = await adminOf(service);
    for (const source of rules) {
      const made = await service.call('createRule', 'POST /api/v1/rules', { token, json: { source } });
      expect(made.status).toBe(201);
    }
    const headers = { 'content-type': 'application/x-ndjson' };
    const sensor = await issue(service, token, ['sensor']);
    for (const text of bodies) {
      const sent = { token: sensor, text, headers };
      const { status } = await service.call('ingest', 'POST /api/v1/ingest', sent);
      expect(status).toBe(200);
    }
    let before: Seen[] = [];
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const now = await alertsOf(service, token);
      if (JSON.stringify(now) === JSON.stringify(before)) return now;
      before = now;
    }
  } finally {
    await service.close();
  }
}

const nameOf = ({ alert, figures }: Seen) => `${alert} ${figures.first_seen}`;

async function alertsOf(service: Awaited<ReturnType<typeof openService>>, token: string): Promise<Seen[]> {
  const { body } = await service.call('listAlerts', 'GET /api/v1/alerts?per_page=1000', { token });
  const { data } = body as { data: { attributes: Alert }[] };
  return data
    .map(({ attributes }) => {
      const { rule_id, src_ip = '', dst_ip = '', domain = '' } = attributes;
      const { title, description, severity, evidence, count, first_seen, last_seen } = attributes;
      const figures = { title, description, severity, evidence, count, first_seen, last_seen };
      return { alert: [rule_id, src_ip, dst_ip, domain].join(' '), figures };
    })
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const start = Math.floor(Date.now() / hourMs) * hourMs - 6 * hourMs;
const lines = attackLines(start);
let whole: Seen[];
beforeAll(async () => {
  whole = await alertsAfter(inBodies(lines, lines.length));
  expect(whole).toHaveLength(46);
}, patienceMs);

test.each([
  ['in order, in small bodies', inBodies(lines, 100)],
  ['up to an hour late, in one body', inBodies(late(lines), lines.length)],
  ['up to an hour late, in small bodies', inBodies(late(lines), 100)],
  ['backwards within each hour', inBodies(reversed(lines), 500)],
])('lines that come %s give the same alerts', { timeout: patienceMs }, async (_, bodies) => {
  const found = await alertsAfter(bodies);
  expect(found.map(({ alert }) => alert)).toEqual(whole.map(({ alert }) => alert));
  for (const [n, { alert, figures }] of found.entries()) expect(figures, alert).toEqual(whole[n]!.figures);
});
