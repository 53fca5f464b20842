import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { changeEach } from '../../src/http/bulk-change.ts';
import { limits } from '../../src/limits.ts';
import type { AlertUpdate, Store } from '../../src/store/store.ts';
import { analyst, batchOf, finding, opened } from '../store/opened.ts';

const log = { error: (problem: unknown) => expect.fail(String(problem)) } as never;

async function withAlerts(count: number, options: Parameters<typeof opened>[0] = {}) {
  const open = opened(options);
  const findings = Array.from({ length: count }, (_, n) => finding({ rule_id: `1:${n}` }));
  const { alerts } = await open.store.commit(batchOf(findings));
  return { ...open, ids: alerts.map(({ alert }) => alert.id) };
}

function told(store: Pick<Store, 'changeAlert'>) {
  const published: AlertUpdate[] = [];
  let poked = 0;
  const services = {
    store: store as Store,
    log,
    publishAlert: (update: AlertUpdate) => void published.push(update),
    pokeOutbox: () => {
      poked++;
    },
  };
  return { services, published, poked: () => poked };
}

test('alerts are changed some at a time, each published in the order of the changes', async () => {
  const { store, ids } = await withAlerts(120);
  let underWay = 0;
  let most = 0;
  const { services, published, poked } = told({
    async changeAlert(...change) {
      most = Math.max(most, ++underWay);
      try {
        return await store.changeAlert(...change);
      } finally {
        underWay--;
      }
    },
  });
  const answer = await changeEach(services, ids, { status: 'in_progress' }, analyst);
  expect(answer).toEqual({ matched: 120, changed: 120, unchanged: 0, failed_total: 0, failed: [] });
  expect([most, poked()]).toEqual([limits.bulkAlertsAtOnce, 3]);
  expect(published.map(({ alert }) => alert.id)).toEqual(ids);
  const seqs = published.map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
});

test('a full outbox refuses the rest, which stays as it was', async () => {
  const { store, reader, ids } = await withAlerts(120, { maxOutboxRows: 3 });
  const { services, published } = told(store);
  const change = { ai_override: { verdict: 'benign', reason: 'known' } } as const;
  const answer = await changeEach(services, ids, change, analyst);
  expect(answer).toMatchObject({ matched: 120, changed: 3, failed_total: 117 });
  expect(answer.failed).toHaveLength(limits.maxReportedErrors);
  expect(new Set(answer.failed.map(({ code }) => code))).toEqual(new Set(['UNAVAILABLE']));
  expect(published.map(({ alert }) => alert.id)).toEqual(ids.slice(0, 3));
  expect(ids.filter((id) => reader.getAlert(id)?.override !== undefined)).toEqual(ids.slice(0, 3));
});

test('what the store died of is not told; a bug is thrown', async () => {
  const lost = told({
    changeAlert: () => Promise.reject(new ServiceError('WORKER_LOST', 'Segmentation fault at 0x1')),
  });
  const id = '01900000-0000-7000-8000-000000000001';
  const { failed } = await changeEach(lost.services, [id], {}, analyst);
  expect(failed).toEqual([{ id, code: 'UNAVAILABLE', reason: expect.not.stringContaining('0x1') }]);
  const broken = told({ changeAlert: () => Promise.reject(new TypeError('no')) });
  await expect(changeEach(broken.services, [id], {}, analyst)).rejects.toThrow(TypeError);
});
