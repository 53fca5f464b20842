/** Events past retention, in the whole service: status, metrics, a request by id, and the log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { eventId } from '../../src/events/event-id.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { openStore } from '../../src/store/writer.ts';
import { networkRecord } from '../store/records.ts';
import { call } from './call.ts';

const day = 24 * 3_600_000;
const patience = { timeout: 60_000, interval: 100 };

interface Answered {
  readonly data: { readonly attributes: Record<string, unknown> };
}

test('expired events are deleted at a start and reported as deleted; the deletion is the first new entry of the log', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-retention-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const first = await startService({ dataDir });
  const token = await login(first);
  const config = (await call(first, 'getConfig', { token })).body as Answered;
  expect(config.data.attributes.active).toMatchObject({
    'retention.max_age_ms': 90 * day,
    'retention.max_bytes': 0,
  });
  expect(await first.stop()).toBe(0);

  const store = openStore({ dataDir, alertWindowMs: 1000 });
  const received = Date.now() - 10 * day;
  for (const [at, rows] of [
    [received, 10],
    [Date.now(), 5],
  ] as const) {
    const builder = new BlockBuilder('network', at);
    for (let row = 0; row < rows; row++) builder.add(networkRecord({ timestamp: received }));
    const answer = { accepted: rows, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
    await store.commit({ blocks: [builder.finish()], answer });
  }
  await store.close();

  const service = await startService({ dataDir, env: { CANDOR_RETENTION_MAX_AGE_MS: String(7 * day) } });
  const again = { token: await login(service) };
  await vi.waitFor(async () => {
    const attributes = {
      store: { network_events: 5 },
      retention: {
        max_age_ms: 7 * day,
        expired: [{ table: 'network', reason: 'age', events: 10 }],
      },
    };
    expect(await call(service, 'getStatus', again)).toMatchObject({
      status: 200,
      body: { data: { attributes } },
    });
  }, patience);
  const { body: metrics } = await call(service, 'getMetrics');
  expect(metrics).toContain('candor_store_expired_events_total{table="network",reason="age"} 10');

  const gone = await call(service, 'getNetworkEvent', {
    ...again,
    params: [eventId('network', received, 1)],
  });
  expect(gone).toMatchObject({
    status: 404,
    body: { error: { code: 'NOT_FOUND', details: { reason: 'expired' } } },
  });
  const never = await call(service, 'getNetworkEvent', {
    ...again,
    params: ['0190a7b0-0000-7000-8000-000000000000'],
  });
  expect(never).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  expect((never.body as { error: object }).error).not.toHaveProperty('details.reason', 'expired');

  await vi.waitFor(async () => {
    const { body } = await call(service, 'listEntries', { ...again, query: 'kind=events.expired' });
    expect((body as { data: unknown[] }).data).toMatchObject([
      {
        attributes: {
          entry: {
            kind: 'events.expired',
            actor: 'system',
            data: {
              ...{ table: 'network', reason: 'age', from_seq: 1, to_seq: 11, count: 10 },
              oldest: new Date(received).toISOString(),
              newest: new Date(received).toISOString(),
            },
          },
        },
      },
    ]);
  }, patience);
  expect(await service.stop()).toBe(0);
});
