/** What analysts find of one rule decides nothing about another rule, whatever addresses their alerts share. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;
beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  sensor = await issue(service, admin, ['sensor']);
});
afterAll(() => service.close());

/** Raises alerts of a signature at one target, each from a source of its own, and returns them. */
const raise = (signature_id: number, severity: number, count: number) =>
  raised(
    `1:${signature_id}`,
    Array.from({ length: count }, (_, n) => ({
      timestamp: new Date().toISOString(),
      event_type: 'alert',
      src_ip: `203.0.113.${n + 1}`,
      src_port: 4711,
      dest_ip: '10.0.0.5',
      dest_port: 443,
      proto: 'TCP',
      alert: { gid: 1, signature_id, signature: 'seen', severity, category: 'x' },
    })),
  );

/** The same of a Zeek notice. */
const raiseNotice = (note: string, count: number) =>
  raised(
    note,
    Array.from({ length: count }, (_, n) => ({
      _path: 'notice',
      ts: Date.now() / 1000,
      note,
      msg: 'seen',
      src: `203.0.113.${n + 1}`,
      dst: '10.0.0.5',
      p: 443,
      actions: ['Notice::ACTION_LOG'],
    })),
  );

async function raised(rule: string, records: readonly object[]) {
  const lines = records.map((record) => JSON.stringify(record));
  await service.call('ingest', 'POST /api/v1/ingest', {
    token: sensor,
    text: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const target = `GET /api/v1/alerts?rule_id=${rule}&per_page=100`;
  const { body } = await service.call('listAlerts', target, { token: admin });
  return (body as { data: { id: string; attributes: Alert }[] }).data;
}

async function judge(alerts: readonly { readonly id: string }[], verdict: string): Promise<void> {
  for (const { id } of alerts) {
    const target = `PUT /api/v1/alerts/${id}`;
    const { status } = await service.call('updateAlert', target, {
      token: admin,
      json: { verdict, status: 'resolved' },
    });
    expect(status).toBe(200);
  }
}

test('a severe alert of a rule without verdicts stays undecided after many benign ones at its target', async () => {
  for (const rule of [1, 2, 3]) await judge(await raise(rule, 4, 15), 'benign');
  const [exploit] = await raise(4, 1, 1);
  expect(exploit!.attributes).toMatchObject({
    severity: 'high',
    ai_verdict: { verdict: 'insufficient_data', confidence: 0 },
  });
  const [low] = await raise(5, 4, 1);
  expect(low!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
});

test('a rule with verdicts of its own is decided by them, and never to be harmless where it is severe', async () => {
  await judge(await raise(6, 3, 12), 'benign');
  const judged = new Set((await raise(6, 3, 0)).map(({ id }) => id));
  const [next] = (await raise(6, 3, 13)).filter(({ id }) => !judged.has(id));
  expect(next!.attributes.ai_verdict).toMatchObject({ verdict: 'benign' });
  await judge(await raise(7, 1, 12), 'benign');
  const severe = (await raise(7, 1, 13)).filter(({ attributes }) => attributes.verdict === undefined);
  expect(severe[0]!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data' });
});

test('notices of Zeek are decided by verdicts on the same kind of notice alone', async () => {
  await judge(await raiseNotice('Office::Known_Scanner', 12), 'benign');
  const alerts = await raiseNotice('Office::Known_Scanner', 13);
  const [next] = alerts.filter(({ attributes }) => attributes.verdict === undefined);
  expect(next!.attributes).toMatchObject({ severity: 'medium', ai_verdict: { verdict: 'benign' } });
  const [other] = await raiseNotice('Office::Unknown_Scanner', 1);
  expect(other!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
});
