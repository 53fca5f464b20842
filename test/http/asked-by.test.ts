/**
 * Queries are counted per caller and end when the client disconnects, so each query gets the caller and an
 * abort signal.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RunOptions } from '../../src/rpc/pool.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let admin: { token: string; id: string };

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  const { access_token: token } = body as { access_token: string };
  const who = await service.call('whoAmI', 'GET /auth/me', { token });
  admin = { token, id: (who.body as { data: { id: string } }).data.id };
});
afterAll(() => service.close());

const none = '018f0000-0000-7000-8000-000000000001';

test.each([
  ['events/network'],
  ['events/network', 'application/x-ndjson'],
  ['events/dns?q=a'],
  ['alerts'],
  ['alerts', 'application/x-ndjson'],
  ['alerts/export'],
  ['alerts/groups?by=rule_id'],
  ['alerts/histogram'],
  ['events/network/histogram'],
  ['events/dns/values?by=query'],
  [`alerts/${none}/notes`],
  [`alerts/${none}/history`],
  ['assets'],
  [`services/asset/${none}`],
  [`assets/${none}/history`],
  ['services'],
  ['silences'],
  ['principals'],
  ['tokens'],
  ['audit'],
  ['analytics/dashboard'],
  ['analytics/trends'],
  ['analytics/risk-score'],
])('reading %s %s passes the caller and an abort signal to the query', async (path, accept = 'application/json') => {
  const asked: (RunOptions | undefined)[] = [];
  const { queries } = service.services;
  const run = queries.run.bind(queries);
  const spy = vi.spyOn(queries, 'run').mockImplementation((task, input, options) => {
    asked.push(options);
    return run(task, input, options);
  });
  const headers = { authorization: `Bearer ${admin.token}`, accept };
  await (await fetch(`${service.url}/api/v1/${path}`, { headers })).text();
  spy.mockRestore();
  expect(asked).toEqual([{ caller: admin.id, signal: expect.any(AbortSignal) }]);
});
