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
async function raise(signature_id: number, severity: number, count: number) {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      timestamp: new Date().toISOString(),
      event_type: 'alert',
      src_ip: `203.0.113.${n + 1}`,
      src_port: 4711,
      dest_ip: '10.0.0.5',
      dest_port: 443,
      proto: 'TCP',
      alert: { gid: 1, signature_id, signature: 'seen', severity, category: 'x' },
    }),
  );
  await service.call('ingest', 'POST /api/v1/ingest', {
    token: sensor,
    text: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const target = `GET /api/v1/alerts?rule_id=1:${signature_id}&per_page=100`;
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
