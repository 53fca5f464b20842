import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

test('the status names the detector that reached a limit, and how often', async () => {
  const admin = await adminOf(service);
  const token = await issue(service, admin, ['sensor']);
  const lines = Array.from({ length: 140 }, (_, port) =>
    JSON.stringify({
      _path: 'conn',
      ts: Date.now() / 1000,
      uid: `C${port}`,
      'id.orig_h': '10.0.0.5',
      'id.orig_p': 40_000,
      'id.resp_h': '10.0.0.9',
      'id.resp_p': port + 1,
      proto: 'tcp',
      conn_state: 'SF',
      orig_bytes: 100,
      resp_bytes: 100,
      orig_pkts: 5,
      resp_pkts: 5,
    }),
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  const sent = await service.call('ingest', 'POST /api/v1/ingest', {
    token,
    text: lines.join('\n'),
    headers,
  });
  expect(sent.status).toBe(200);
  const limitsReached = async () => {
    const { body } = await service.call('getStatus', 'GET /api/v1/status', { token: admin });
    return (body as { data: { attributes: Status } }).data.attributes.limits_reached;
  };
  await expect
    .poll(limitsReached, { timeout: 60_000 })
    .toMatchObject([{ limit: 'maxDetectorKeys', times: 12, detectors: [{ detector: 'new-service', times: 12 }] }]);
});
