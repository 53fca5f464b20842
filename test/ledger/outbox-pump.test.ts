import { expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Appended, Ledger, UnsignedEntry } from '../../src/ledger/ledger.ts';
import { OutboxPump, type OutboxPumpOptions, type OutboxSource } from '../../src/ledger/outbox-pump.ts';
import { entries, entry, folder, open } from './fixture.ts';

/** Rows in memory. */
class Outbox implements OutboxSource {
  rows: UnsignedEntry[] = [];
  readonly settled: Appended[] = [];

  async outbox(limit: number): Promise<UnsignedEntry[]> {
    return this.rows.slice(0, limit);
  }

  async settle(settlements: readonly Appended[]): Promise<void> {
    const ids = new Set(settlements.map((s) => s.id));
    this.rows = this.rows.filter((row) => !ids.has(row.id));
    this.settled.push(...settlements);
  }

  async lastPositions(): Promise<[]> {
    return [];
  }

  async logLife(): Promise<undefined> {}

  async enterLogLife(): Promise<void> {}

  async logAgain(): Promise<void> {}
}

function start(source: Outbox, ledger: OutboxPumpOptions['ledger'], options: Partial<OutboxPumpOptions> = {}) {
  const seen = { refused: [] as string[], retries: [] as number[] };
  const pump = new OutboxPump({
    source,
    ledger,
    backoffMs: [1, 8],
    onRefused: (row) => seen.refused.push(row.id),
    onRetry: (_, waitMs) => seen.retries.push(waitMs),
    ...options,
  });
  onTestFinished(() => pump.close());
  return { pump, seen };
}

/** Returns the ledger with a different append function. */
function instead(ledger: Ledger, append: Ledger['append']): OutboxPumpOptions['ledger'] {
  return { append, status: () => ledger.status(), leaf: (query) => ledger.leaf(query) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('rows left by an earlier process are drained at the start, in batches and in order', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  source.rows = entries(0, 25);
  const { pump } = start(source, ledger, { batch: 10 });
  await pump.idle();
  expect(source.rows).toEqual([]);
  expect(source.settled.map((s) => s.leaf_index)).toEqual(Array.from({ length: 25 }, (_, i) => i));
  expect(source.settled.map((s) => s.id)).toEqual(entries(0, 25).map((e) => e.id));
});

test('a wake during a run is not lost, and runs are sequential', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  let running = 0;
  const append: Ledger['append'] = async (rows) => {
    expect(++running).toBe(1);
    const appended = await ledger.append(rows);
    running--;
    return appended;
  };
  const { pump } = start(source, instead(ledger, append));
  for (let n = 0; n < 50; n++) {
    source.rows.push(entry(n));
    pump.wake();
    if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await pump.idle();
  expect(source.rows).toEqual([]);
  expect((await ledger.status()).size).toBe(50);
});

test('the pump retries with increasing delays while the ledger is unavailable, and each row is logged once', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  source.rows = entries(0, 3);
  const codes = ['UNAVAILABLE', 'WORKER_LOST', 'OVERLOADED', 'WORKER_LOST', 'UNAVAILABLE'] as const;
  let attempt = 0;
  const append: Ledger['append'] = async (rows) => {
    const code = codes[attempt++];
    if (code === undefined) return ledger.append(rows);
    if (code === 'WORKER_LOST') await ledger.append(rows); // appended, but the result was lost
    throw new ServiceError(code, 'not now');
  };
  const { pump, seen } = start(source, instead(ledger, append));
  await pump.idle(); // the remaining rows have to wait; a shutdown does not
  expect(source.rows).toHaveLength(3);
  await until(() => source.rows.length === 0);
  await pump.idle();
  expect(seen.retries).toEqual([1, 2, 4, 8, 8]);
  expect(source.settled.map((s) => s.leaf_index)).toEqual([0, 1, 2]);
  expect((await ledger.status()).size).toBe(3);
});

test('settling is retried after a failure of the store, and each entry is logged once', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  source.rows = entries(0, 2);
  const settle = source.settle.bind(source);
  let failed = false;
  source.settle = async (settlements) => {
    if (failed) return settle(settlements);
    failed = true;
    throw new ServiceError('WORKER_LOST', 'the store died');
  };
  start(source, ledger);
  await until(() => source.rows.length === 0);
  expect((await ledger.status()).size).toBe(2);
});

test('a row that the ledger refuses is reported once and kept; other rows continue', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  source.rows = [{ ...entry(0), kind: 'Not A Kind' }, ...entries(1, 6)];
  const { pump, seen } = start(source, ledger, { batch: 2 });
  await pump.idle();
  source.rows.push(entry(6));
  pump.wake();
  await pump.idle();
  expect(seen.refused).toEqual([entry(0).id]);
  expect(source.rows.map((row) => row.id)).toEqual([entry(0).id]);
  expect((await ledger.status()).size).toBe(6);
});

test('the pump does not start runs after close', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  const { pump } = start(source, ledger);
  await pump.close();
  source.rows.push(entry(0));
  pump.wake();
  await pump.idle();
  expect(source.rows).toHaveLength(1);
});

test('rows that waited for days, or that are dated ahead, are dated by their append', async () => {
  const ledger = await open(folder());
  const source = new Outbox();
  const hours = [-240, 2, 0].map((n) => n * 3_600_000);
  source.rows = hours.map((offset, n) => entry(n, { delayed: offset !== 0 }, Date.now() + offset));
  const rows = [...source.rows];
  const { pump, seen } = start(source, ledger);
  await pump.idle();
  expect(seen.refused).toEqual([]);
  const { leaves } = await ledger.entries({ page: 1, per_page: 10 });
  const logged = leaves.map(({ canonical }) => JSON.parse(Buffer.from(canonical).toString()));
  for (const [n, row] of rows.entries()) {
    const delayed = hours[n] !== 0;
    expect(logged[n].data).toEqual({ ...row.data, ...(delayed ? { delayed_from: row.occurred_at } : {}) });
    expect(logged[n].occurred_at === row.occurred_at).toBe(!delayed);
    expect(Math.abs(Date.parse(logged[n].occurred_at) - Date.now())).toBeLessThan(60_000);
  }
});
