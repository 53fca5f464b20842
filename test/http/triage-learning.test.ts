/**
 * Analysts' verdicts on one rule do not decide alerts of another rule, whatever addresses their alerts share.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { inBodies } from '../system/counted.ts';
import { hasSharedData, sharedLines } from '../system/shared-data.ts';
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

/** Raises alerts of a signature at one target, each from a different source, and returns them. */
const raise = (signature_id: number, severity: number, count: number, dest_ip = '10.0.0.5') =>
  raised(
    `1:${signature_id}`,
    Array.from({ length: count }, (_, n) => ({
      timestamp: new Date().toISOString(),
      event_type: 'alert',
      src_ip: `203.0.113.${n + 1}`,
      src_port: 4711,
      dest_ip,
      dest_port: 443,
      proto: 'TCP',
      alert: { gid: 1, signature_id, signature: 'seen', severity, category: 'x' },
    })),
  );

/** Raises alerts of one kind of Zeek notice, each from a different source, and returns them. */
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
  await ingest(records.map((record) => JSON.stringify(record)).join('\n'));
  return alertsOf(`rule_id=${rule}`);
}

async function ingest(text: string): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token: sensor, text, headers });
  expect(body).toMatchObject({ data: { rejected: 0 } });
}

async function alertsOf(query: string) {
  const target = `GET /api/v1/alerts?per_page=100&${query}`;
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

test('a severe alert of a rule without verdicts stays undecided after many benign alerts at its target', async () => {
  for (const rule of [1, 2, 3]) await judge(await raise(rule, 4, 15), 'benign');
  const [exploit] = await raise(4, 1, 1);
  expect(exploit!.attributes).toMatchObject({
    severity: 'high',
    ai_verdict: { verdict: 'insufficient_data', confidence: 0 },
  });
  const [low] = await raise(5, 4, 1);
  expect(low!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
});

test.skipIf(!hasSharedData).each([44, 15, 1])(
  'benign verdicts on all alerts of a recorded honeypot, sent in bodies of %i lines, do not decide alerts of its other rules',
  async (perBody) => {
    // A separate target and separate rules for each split.
    const target = `198.51.100.${perBody}`;
    const [last, ...lines] = sharedLines('suricata/honeypot-2018.alerts.ndjson')
      .map((line) => line.replaceAll('138.68.3.71', target).replace('"gid":1', `"gid":${perBody + 1}`))
      .toReversed();
    for (const body of inBodies(lines, perBody)) await ingest(body);
    const alerts = await alertsOf(`dst_ip=${target}`);
    expect(alerts).toHaveLength(42);
    await judge(alerts, 'benign');
    await ingest(last!);
    const [exploit] = await raise(100 + perBody, 1, 1, target);
    const undecided = (await alertsOf(`dst_ip=${target}`)).filter(({ attributes }) => attributes.verdict === undefined);
    expect(undecided).toHaveLength(2);
    expect(undecided.map(({ id }) => id)).toContain(exploit!.id);
    for (const { attributes } of undecided)
      expect(attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
  },
);

test('verdicts on a rule decide its next alerts, but a severe alert is never decided as benign', async () => {
  await judge(await raise(6, 3, 12), 'benign');
  const judged = new Set((await raise(6, 3, 0)).map(({ id }) => id));
  const [next] = (await raise(6, 3, 13)).filter(({ id }) => !judged.has(id));
  expect(next!.attributes.ai_verdict).toMatchObject({ verdict: 'benign' });
  await judge(await raise(7, 1, 12), 'benign');
  const severe = (await raise(7, 1, 13)).filter(({ attributes }) => attributes.verdict === undefined);
  expect(severe[0]!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data' });
});

test('notices of Zeek are decided only by verdicts on the same kind of notice', async () => {
  await judge(await raiseNotice('Office::Known_Scanner', 12), 'benign');
  const alerts = await raiseNotice('Office::Known_Scanner', 13);
  const [next] = alerts.filter(({ attributes }) => attributes.verdict === undefined);
  expect(next!.attributes).toMatchObject({ severity: 'medium', ai_verdict: { verdict: 'benign' } });
  const [other] = await raiseNotice('Office::Unknown_Scanner', 1);
  expect(other!.attributes.ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
});
