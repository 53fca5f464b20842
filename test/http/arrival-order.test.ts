/** The same Zeek or Suricata lines raise equal alerts, in any order within an hour and in bodies of any size. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { counted } from '../system/counted.ts';
import { type AttackLine, arriving, attackLines, late } from './attack-lines.ts';
import type { SensorFormat } from './eve-lines.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

const hourMs = 3_600_000;
/** Timeout that suffices on a busy machine. */
const patienceMs = 120_000;

const logsources = {
  Zeek: { logsource: '{ product: zeek, service: conn }', refused: '{ conn_state: REJ }' },
  Suricata: { logsource: '{ product: suricata, service: flow }', refused: "{ tcp.tcp_flags_tc: '14' }" },
};

const rulesFor = ({ logsource, refused }: (typeof logsources)[SensorFormat]) => [
  `title: Refused connection
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a01
logsource: ${logsource}
detection: { one: ${refused}, condition: one }
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
logsource: ${logsource}
detection: { one: { id.resp_p: [21, 22, 23] }, condition: one }
`,
  `title: Transfer
id: 3f0dc1a4-62a8-4d55-9f8c-0f3f4f0d9a05
logsource: ${logsource}
detection: { one: { orig_ip_bytes|gte: 1300 }, condition: one }
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
  condition: { field: orig_ip_bytes, gte: 10000 }
`,
];

function inBodies(lines: readonly AttackLine[], perBody: number): string[] {
  const texts = lines.map(({ line }) => line);
  const bodies: string[] = [];
  for (let at = 0; at < texts.length; at += perBody) bodies.push(texts.slice(at, at + perBody).join('\n'));
  return bodies;
}

const reversed = (lines: readonly AttackLine[]) =>
  arriving(lines, ({ time }) => 2 * Math.floor(time / hourMs) * hourMs + hourMs - time);

interface Seen {
  readonly alert: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

/** @param senders - number of sensors, which send the bodies in turn */
async function alertsAfter(rules: readonly string[], bodies: readonly string[], senders = 1): Promise<Seen[]> {
  const service = await openService();
  try {
    const token = await adminOf(service);
    for (const source of rules) {
      const made = await service.call('createRule', 'POST /api/v1/rules', { token, json: { source } });
      expect(made.status).toBe(201);
    }
    const headers = { 'content-type': 'application/x-ndjson' };
    const sensors = await Promise.all(
      Array.from({ length: senders }, (_, n) => sensorToken(service, token, `tap-${n}`)),
    );
    const began = performance.now();
    for (const [n, text] of bodies.entries()) {
      const sent = { token: sensors[n % senders]!, text, headers };
      const { status } = await service.call('ingest', 'POST /api/v1/ingest', sent);
      expect(status).toBe(200);
    }
    await counted(service, token);
    // Refreshes are further apart on a busy machine.
    const pauseMs = Math.max(1500, (performance.now() - began) / 2);
    let before: Seen[] = [];
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const now = await alertsOf(service, token);
      if (JSON.stringify(now) === JSON.stringify(before)) return now;
      before = now;
    }
  } finally {
    await service.close();
  }
}

async function sensorToken(service: Service, token: string, name: string): Promise<string> {
  const json = { name, kind: 'sensor', roles: ['sensor'] };
  const { body } = await service.call('createPrincipal', 'POST /api/v1/principals', { token, json });
  const { id } = (body as { data: { id: string } }).data;
  return issue(service, token, ['sensor'], id);
}

const nameOf = ({ alert, figures }: Seen) => `${alert} ${figures.first_seen}`;

async function alertsOf(service: Service, token: string): Promise<Seen[]> {
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

/** Returns the newest UTC midnight that is at least this many hours ago. */
const midnight = (hoursAgo: number) => Math.floor((Date.now() - hoursAgo * hourMs) / (24 * hourMs)) * 24 * hourMs;

describe.each([
  ['Zeek', 'around midnight', midnight(4) - 3 * hourMs, 'up to an hour late, in small bodies'],
  ['Suricata', 'within one day', midnight(7), 'backwards within each hour'],
] as const)('%s lines %s', (format, _, start, order) => {
  const rules = rulesFor(logsources[format]);
  const lines = attackLines(start, format);
  let whole: Seen[];
  beforeAll(async () => {
    whole = await alertsAfter(rules, inBodies(lines, lines.length));
    expect(whole).toHaveLength(46);
  }, patienceMs);

  test(`raise the same alerts if they arrive ${order}`, { timeout: patienceMs }, async () => {
    const bodies = format === 'Zeek' ? inBodies(late(lines), 100) : inBodies(reversed(lines), 500);
    const found = await alertsAfter(rules, bodies);
    expect(found.map(({ alert }) => alert)).toEqual(whole.map(({ alert }) => alert));
    for (const [n, { alert, figures }] of found.entries()) expect(figures, alert).toEqual(whole[n]!.figures);
  });

  if (format === 'Zeek') return;

  test('raise the same detector alerts if two sensors each send a part of the lines, up to an hour late', {
    timeout: patienceMs,
  }, async () => {
    // One sensor reports all records of the long connection. This is the connection's destination.
    const isFirst = (line: string, n: number) => n % 2 === 0 || line.includes('"203.0.113.81"');
    const bodies = inBodies(late(lines), 100).flatMap((body) => {
      const texts = body.split('\n');
      return [true, false].map((first) => texts.filter((line, n) => isFirst(line, n) === first).join('\n'));
    });
    const ofDetectors = (seen: readonly Seen[]) => seen.filter(({ alert }) => alert.startsWith('behaviour.'));
    const found = ofDetectors(await alertsAfter(rules, bodies, 2));
    expect(found.length).toBeGreaterThan(10);
    expect(found).toEqual(ofDetectors(whole));
  });
});
