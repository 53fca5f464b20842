/** Sigma filters over HTTP, including conditions that hold for records that none of the filter's searches match. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
});
afterAll(() => service.close());

async function create(source: string): Promise<void> {
  const made = await service.call('createRule', 'POST /api/v1/rules', { token, json: { source } });
  expect(made).toMatchObject({ status: 201 });
}

test.each([
  ['not sel_a and not sel_b', ['10.0.0.3']],
  ['not 1 of sel_*', ['10.0.0.3']],
  ['sel_a or sel_b', ['10.0.0.3']],
  ['not sel_a', ['10.0.0.2', '10.0.0.3']],
  ['sel_b', ['10.0.0.1', '10.0.0.3']],
])('a filter with the condition %s leaves the sources %j', async (condition, left) => {
  const [rule, filter] = [crypto.randomUUID(), crypto.randomUUID()];
  const port = 2000 + condition.length;
  const searches = [
    ...(/sel_[*a]/.test(condition) ? ['sel_a: {src_ip: 10.0.0.1}'] : []),
    ...(/sel_[*b]/.test(condition) ? ['sel_b: {src_ip: 10.0.0.2}'] : []),
  ];
  await create(
    `{title: Telnet, id: ${rule}, level: low, logsource: {category: firewall}, detection: {s: {dst_port: ${port}}, condition: s}}`,
  );
  await create(
    `{title: Known, id: ${filter}, logsource: {category: firewall}, filter: {rules: [${rule}], ${searches.join(', ')}, condition: '${condition}'}}`,
  );
  const json = [1, 2, 3].map((n) => ({
    type: 'network_event',
    timestamp: new Date().toISOString(),
    src_ip: `10.0.0.${n}`,
    src_port: 40_000,
    dst_ip: '192.0.2.1',
    dst_port: port,
    transport: 'tcp',
    state: 'closed',
  }));
  const sent = await service.call('ingest', 'POST /api/v1/ingest', { token, json });
  expect(sent.body).toMatchObject({ data: { accepted: 3 } });
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?rule_id=${rule}`, { token });
  const alerts = (body as { data: { attributes: Alert }[] }).data;
  expect(alerts.map(({ attributes }) => attributes.src_ip).sort()).toEqual(left);
});
