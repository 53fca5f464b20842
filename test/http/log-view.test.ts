import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entries, entry } from '../ledger/fixture.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

describe('a log that is published with a delay', () => {
  let service: Service;
  let admin: string;
  beforeAll(async () => {
    service = await openService({ CANDOR_LEDGER_PUBLICATION_DELAY_MS: '3600000' });
    await service.ledger.append(entries(0, 5));
    admin = await adminOf(service);
  });
  afterAll(() => service.close());

  const reads = [
    ['getTreeHead', '/api/transparency/sth'],
    ['getInclusionProof', '/api/transparency/inclusion?leaf_index=2&tree_size=5'],
    ['getInclusionProof', `/api/transparency/inclusion?entry_id=${entry(2).id}&tree_size=5`],
    ['getConsistencyProof', '/api/transparency/consistency?first=2&second=5'],
    ['getTile', '/tile/0/000.p/5'],
  ] as const;

  test.each(reads)('serves %s %s about unpublished entries only to readers of entries', async (operation, path) => {
    const anonymous = await service.call(operation, `GET ${path}`);
    const reader = await service.call(operation, `GET ${path}`, { token: admin });
    const sensor = await service.call(operation, `GET ${path}`, {
      token: await issue(service, admin, ['sensor']),
    });
    const forged = await service.call(operation, `GET ${path}`, { token: `${admin}x` });
    expect([anonymous.status, reader.status]).toEqual([expect.any(Number), 200]);
    expect(anonymous.status).toBeGreaterThanOrEqual(400);
    expect([sensor.status, forged.status]).toEqual([anonymous.status, anonymous.status]);
  });

  test('has a history of heads that is empty for the public, and complete for readers of entries', async () => {
    const total = async (options?: { token: string }) => {
      const { body } = await service.call('listTreeHeads', 'GET /api/transparency/sths', options);
      return (body as { pagination: { total: number } }).pagination.total;
    };
    expect(await total()).toBe(0);
    expect(await total({ token: admin })).toBeGreaterThan(0);
  });

  test('has no checkpoint before a head is published, even for readers of entries', async () => {
    const { status, body } = await service.call('getCheckpoint', 'GET /checkpoint', { token: admin });
    expect([status, (body as { error: { code: string } }).error.code]).toEqual([503, 'LOG_EMPTY']);
  });

  test.each([
    ['getKeySet', '/.well-known/jwks.json'],
    ['listPublicKeys', '/api/transparency/keys'],
  ] as const)('shows the sizes of key changes in %s only to readers of entries', async (operation, path) => {
    if (operation === 'getKeySet') {
      await service.ledger.rotateKey('transparency-sth', 'system');
      const keys = await service.ledger.keyRecords();
      const revoked = keys.find(({ purpose }) => purpose === 'event-signing')!;
      await service.ledger.revokeKey(revoked.kid, 'stolen', 'system');
    }
    const sizes = async (options?: { token: string }) => {
      const { body } = await service.call(operation, `GET ${path}`, options);
      return [...JSON.stringify(body).matchAll(/"svc_(?:from|to)_size":(\d+)/g)].map(([, size]) => Number(size));
    };
    expect(new Set(await sizes())).toEqual(new Set([0]));
    expect(Math.max(...(await sizes({ token: admin })))).toBeGreaterThanOrEqual(5);
  });

  test('requires credentials for metrics, because metrics count entries', async () => {
    expect((await service.call('getMetrics', 'GET /metrics')).status).toBe(401);
    expect((await service.call('getMetrics', 'GET /metrics', { token: admin })).status).toBe(200);
  });
});

test('too many log reads from one address are 429 without credentials, but not with credentials', async () => {
  const service = await openService({ CANDOR_LIMITS_LOG_READS_PER_S_PER_ADDRESS: '1' });
  try {
    await service.ledger.append(entries(0, 5));
    const admin = await adminOf(service);
    const sth = async () => service.call('getTreeHead', 'GET /api/transparency/sth');
    const answers = [await sth(), await sth(), await sth()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]!.body).toMatchObject({
      error: { code: 'RATE_LIMITED', details: { retry_after_s: 1 } },
    });
    expect(answers[2]!.headers.get('retry-after')).toBe('1');
    expect((await service.call('getKeySet', 'GET /.well-known/jwks.json')).status).toBe(429);
    expect((await service.call('listPublicKeys', 'GET /api/transparency/keys')).status).toBe(429);
    for (let i = 0; i < 5; i++) {
      const { status } = await service.call('getEntryBundle', 'GET /tile/entries/000.p/5', { token: admin });
      expect(status).toBe(200);
    }
  } finally {
    await service.close();
  }
});
