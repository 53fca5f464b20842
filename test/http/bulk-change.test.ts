import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { changeEach } from '../../src/http/bulk-change.ts';
import { limits } from '../../src/limits.ts';
import type { Store } from '../../src/store/store.ts';
import { alertsIn, analyst, batchOf, finding, opened } from '../store/opened.ts';

async function withAlerts(count: number, options: Parameters<typeof opened>[0] = {}) {
  const open = opened(options);
  const findings = Array.from({ length: count }, (_, n) => finding({ rule_id: `1:${n}` }));
  const { alerts } = await open.store.commit(batchOf(findings));
  const before = open.notices.length;
  /** Returns the changes that were announced since the alerts were raised. */
  const announced = () => alertsIn(open.notices.slice(before));
  return { ...open, ids: alerts.map(({ alert }) => alert.id), announced };
}

const servicesOf = (store: Pick<Store, 'changeAlert'>) => ({ store: store as Store });

test('a limited number of alerts is changed at a time, and each change is announced once, in order', async () => {
  const { store, ids, announced } = await withAlerts(120);
  let underWay = 0;
  let most = 0;
  const services = servicesOf({
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
  expect(most).toBe(limits.bulkAlertsAtOnce);
  expect(announced().map(({ alert }) => alert.id)).toEqual(ids);
  expect(announced().map(({ seq }) => seq)).toEqual(ids.map((_, n) => 121 + n));
});

test('a full outbox rejects the remaining changes, and their alerts stay unchanged', async () => {
  const { store, reader, ids, announced } = await withAlerts(120, { maxOutboxRows: 3 });
  const change = { ai_override: { verdict: 'benign', reason: 'known' } } as const;
  const answer = await changeEach(servicesOf(store), ids, change, analyst);
  expect(answer).toMatchObject({ matched: 120, changed: 3, failed_total: 117 });
  expect(answer.failed).toHaveLength(limits.maxReportedErrors);
  expect(new Set(answer.failed.map(({ code }) => code))).toEqual(new Set(['UNAVAILABLE']));
  expect(announced().map(({ alert }) => alert.id)).toEqual(ids.slice(0, 3));
  expect(ids.filter((id) => reader.getAlert(id)?.override !== undefined)).toEqual(ids.slice(0, 3));
});

test('the reason of a store failure is not disclosed; an unexpected error is thrown', async () => {
  const lost = servicesOf({
    changeAlert: () => Promise.reject(new ServiceError('WORKER_LOST', 'Segmentation fault at 0x1')),
  });
  const id = '01900000-0000-7000-8000-000000000001';
  const { failed } = await changeEach(lost, [id], {}, analyst);
  expect(failed).toEqual([{ id, code: 'UNAVAILABLE', reason: expect.not.stringContaining('0x1') }]);
  const broken = servicesOf({ changeAlert: () => Promise.reject(new TypeError('no')) });
  await expect(changeEach(broken, [id], {}, analyst)).rejects.toThrow(TypeError);
});
