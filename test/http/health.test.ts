import { expect, test } from 'vitest';
import type { LedgerStatus } from '../../src/ledger/ledger.ts';
import { HealthCheck } from '../../src/observability/health.ts';
import type { StoreStatus } from '../../src/store/store.ts';

const fine: LedgerStatus = {
  ...{ size: 0, head: undefined, health: { state: 'ok' }, warnings: [], findings: [] },
  ...{ sth_key_id: '', sth_key_fingerprint: '', checkpoint_vkey: '' },
};
const broken: LedgerStatus = {
  ...fine,
  health: { state: 'degraded', fault: 'rollback', advice: 'restore' },
};
const stored = {} as StoreStatus;

function checkOf(
  store: () => Promise<StoreStatus>,
  ledger: () => Promise<LedgerStatus>,
  more: { ready?: boolean; stuckMs?: number } = {},
) {
  const { ready = true, stuckMs = 60_000 } = more;
  return new HealthCheck({
    store: { status: store },
    ledger: { status: ledger },
    ready: () => ready,
    answerMs: 20,
    stuckMs,
  });
}

const never = () => new Promise<never>(() => undefined);

test('health is ok if both threads answer and the log is intact', async () => {
  const check = checkOf(
    async () => stored,
    async () => fine,
  );
  expect(await check.state()).toEqual({ status: 'ok', ledger: 'ok' });
});

test('health reports a degraded log and the remedy', async () => {
  const check = checkOf(
    async () => stored,
    async () => broken,
  );
  expect(await check.state()).toEqual({ status: 'degraded', ledger: 'rollback', advice: 'restore' });
});

test('health does not wait for a busy thread, and reports its last known state', async () => {
  const answers = [async () => broken, never];
  let asked = 0;
  const check = checkOf(never, () => answers[Math.min(asked++, 1)]!());
  expect(await check.state()).toMatchObject({ status: 'degraded', ledger: 'rollback' });
  expect(await check.state()).toMatchObject({ status: 'degraded', ledger: 'rollback' });
});

test('health queries a busy thread once, for any number of requests', async () => {
  let asked = 0;
  const check = checkOf(
    () => {
      asked++;
      return never();
    },
    async () => fine,
  );
  for (let i = 0; i < 3; i++) expect((await check.state()).status).toBe('ok');
  expect(asked).toBe(1);
});

test('health is unavailable if a thread has not answered for longer than the limit', async () => {
  const check = checkOf(never, async () => fine, { stuckMs: 10 });
  const { status, advice } = await check.state();
  expect([status, advice]).toEqual(['unavailable', 'The store thread has not answered for 0 s.']);
});

test.for([
  ['the store thread is lost', true, async () => Promise.reject(new Error('lost')), async () => fine, 'ok'],
  ['the ledger thread is lost', true, async () => stored, async () => Promise.reject(new Error('lost')), 'unknown'],
  ['the service starts or stops', false, async () => stored, async () => fine, 'ok'],
] as const)('health is unavailable if %s', async ([, ready, store, ledger, state]) => {
  expect(await checkOf(store, ledger, { ready }).state()).toMatchObject({
    status: 'unavailable',
    ledger: state,
  });
});

test('health is degraded while a witness reports a rollback, although the log accepts entries', async () => {
  const since = '2026-01-01T00:00:00.000Z';
  const finding = { code: 'witness_rollback', message: 'The log was rolled back.', since } as const;
  const check = checkOf(
    async () => stored,
    async () => ({ ...fine, findings: [finding] }),
  );
  expect(await check.state()).toEqual({
    ...{ status: 'degraded', ledger: 'ok', advice: finding.message, findings: [finding] },
  });
});

test('health lists open findings of a log that still accepts entries', async () => {
  const since = '2026-01-01T00:00:00.000Z';
  const finding = { code: 'anchor_missing', message: 'The anchor is missing.', since } as const;
  const check = checkOf(
    async () => stored,
    async () => ({ ...fine, findings: [finding] }),
  );
  expect(await check.state()).toEqual({ status: 'ok', ledger: 'ok', findings: [finding] });
});
