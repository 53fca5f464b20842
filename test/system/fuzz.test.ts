/** Runs the fuzzer of `npm run bench -- fuzz` for a limited time, and fails if the fuzzer has findings. */
import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { exchange } from '../../bench/fuzz/exchange.ts';
import { Random } from '../../bench/fuzz/random.ts';
import { randomRequest, restrained } from '../../bench/fuzz/requests.ts';
import { SeenIds } from '../../bench/fuzz/values.ts';
import { run } from '../../bench/fuzz.ts';
import { login, startService } from '../../scripts/service.ts';
import { operationIds, routeOf } from '../../src/contract/routes.ts';

test('random requests, packets and frames during ingest are answered according to the contract', async () => {
  const rows = await run(20, 1);
  const figureOf = (variant: string) => rows.find((row) => row.variant === variant)?.value ?? 0;
  for (const variant of [
    'requests',
    'packets',
    'sockets',
    'requests: 200',
    'requests: 400',
    'packets: 400',
    'sockets: subscribed',
  ])
    expect(figureOf(variant), variant).toBeGreaterThan(0);
  expect(figureOf('events stored beside them')).toBeGreaterThan(0);
  expect(figureOf('peak')).toBeLessThan(900);
});

test('requests of the fuzzer for settings, the policy, scans and backups can succeed', async () => {
  const service = await startService({ env: { CANDOR_DISCOVERY_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  const agent = new Agent({ keepAlive: true });
  try {
    const admin = await login(service);
    const headers = { authorization: `Bearer ${admin}` };
    const policy = await (await fetch(`${service.url}${routeOf('getPolicy').path}`, { headers })).json();
    const seen = new SeenIds();
    seen.rules = (policy as { data: { attributes: { rules: unknown } } }).data.attributes.rules;
    const waiting: Set<string> = new Set(restrained);
    for (let seed = 1; waiting.size > 0 && seed < 100_000; seed++) {
      // The first choice for a request is its operation. Most requests are skipped here, before the rest is made.
      if (!waiting.has(new Random(seed).pick(operationIds))) continue;
      const asked = randomRequest(new Random(seed), { admin, nobody: '' }, seen);
      if (asked.holder !== 'admin') continue;
      const [outcome] = await exchange(service.url, agent, asked);
      if (outcome.startsWith('2')) waiting.delete(asked.operation);
    }
    expect([...waiting]).toEqual([]);
  } finally {
    agent.destroy();
    await service.stop();
  }
});
