import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { banner } from '../../src/ledger/banner.ts';
import { Journal, type JournalLine } from '../../src/ledger/journal.ts';
import type { SignedHead } from '../../src/ledger/storage/storage.ts';
import { copyOf, type KnownLog, logOf } from './damaged-log.ts';
import { folder, open } from './fixture.ts';

const at = new Date('2025-11-21T04:00:00.000Z');
const ok = { state: 'ok' } as const;
const all = () => true;
const none = () => false;

function head(size: number, fill = 1): SignedHead {
  return {
    size,
    root: new Uint8Array(32).fill(fill),
    timestampNs: BigInt(size) * 1024n,
    signature: new Uint8Array(64),
    keyId: '019aa4b6-4500-7000-8000-000000000000',
  };
}

const day = (size: number): JournalLine => ({ event: 'day', at, head: head(size), health: ok });

async function journalOf(...lines: readonly JournalLine[]): Promise<{ journal: Journal; path: string }> {
  const path = join(folder(), 'journal.ndjson');
  const journal = new Journal(path);
  for (const line of lines) await journal.write(line);
  return { journal, path };
}

test('no journal remembers nothing', async () => {
  const reading = await (await journalOf()).journal.read(all);
  expect(reading).toMatchObject({ heads: [], largest: undefined, regression: undefined, unreadable: 0 });
});

test('the head of the largest tree counts, whatever was written last', async () => {
  const { journal } = await journalOf(day(3), day(9), { ...day(9), event: 'start' }, day(5));
  expect((await journal.read(all)).largest).toMatchObject({ size: 9 });
});

test('a line written while degraded does not count', async () => {
  const health = { state: 'degraded', fault: 'half_written', advice: '' } as const;
  const { journal, path } = await journalOf(day(3), { ...day(9), health });
  expect((await journal.read(all)).largest).toMatchObject({ size: 3 });
  expect(readFileSync(path, 'utf8')).toContain('"fault":"half_written"');
});

test.each(['restored', 'rebuilt'] as const)(
  'from a line %s on, only it and later ones count',
  async (event) => {
    const went: JournalLine = { event, at, head: head(5), health: ok, replaced: head(900) };
    const { journal, path } = await journalOf(day(700), day(900), went, day(6));
    expect(await journal.read(all)).toMatchObject({
      heads: [{ size: 5 }, { size: 6 }],
      largest: { size: 6 },
      regression: { at: at.toISOString(), event, from_size: 900, to_size: 5 },
    });
    expect(JSON.parse(readFileSync(path, 'utf8').split('\n')[2]!)).toMatchObject({
      ...{ event, health: 'ok', head: { tree_size: 5 }, replaced: { tree_size: 900 } },
    });
  },
);

test('the last such line is the one that is told of', async () => {
  const first: JournalLine = { event: 'restored', at, head: head(5), health: ok, replaced: head(9) };
  const second: JournalLine = { event: 'rebuilt', at, head: head(3), health: ok, replaced: head(8) };
  const { journal } = await journalOf(day(9), first, day(8), second);
  expect((await journal.read(all)).regression).toMatchObject({ event: 'rebuilt', from_size: 8, to_size: 3 });
});

test('heads that no key signed are no evidence, nor is a restore to one; they are listed, the newest hundred', async () => {
  const isSigned = ({ root }: SignedHead) => root[0] === 1;
  const forged: JournalLine = { event: 'restored', at, head: head(2, 7), health: ok, replaced: undefined };
  const { journal } = await journalOf(day(30), { ...day(400), head: head(400, 7) }, forged);
  expect(await journal.read(isSigned)).toMatchObject({
    ...{ largest: { size: 30 }, regression: undefined },
    unsigned: {
      lines: [
        { line: 2, size: 400 },
        { line: 3, size: 2 },
      ],
      count: 2,
      largest: 400,
    },
  });
});

test('a restore without a head hides no head before it, for nothing vouches for it', async () => {
  const empty: JournalLine = { event: 'rebuilt', at, head: undefined, health: ok, replaced: head(30) };
  const { journal } = await journalOf(day(30), empty);
  expect(await journal.read(all)).toMatchObject({
    largest: { size: 30 },
    regression: { from_size: 30, to_size: 0 },
  });
});

test('whatever else is in the file is passed over, and counted', async () => {
  const { journal, path } = await journalOf(day(4));
  appendFileSync(path, '{"at":"2025-\n\nnull\n7\n[]\n{"at":1,"event":"day","health":"ok"}\n\u0000\u0001');
  await journal.write(day(5));
  const reading = await journal.read(all);
  expect(reading.largest).toMatchObject({ size: 5 });
  expect(reading.unreadable).toBe(6);
  expect(await journal.read(none)).toMatchObject({ largest: undefined, unsigned: { count: 2 } });
});

test('a write that fails fails alone: the next one is tried', async () => {
  const path = join(folder(), 'missing', 'journal.ndjson');
  const journal = new Journal(path);
  await expect(journal.write(day(1))).rejects.toThrow();
  await expect(journal.write(day(2))).rejects.toThrow(/ENOENT/);
});

async function restarted(log: KnownLog) {
  const ledger = await open(log.dataDir);
  const status = await ledger.status();
  await ledger.close();
  return status;
}

test('a restore that the journal tells of is shown by status and banner, start after start', async () => {
  const log = copyOf(await logOf(3, 9));
  const [small, large] = log.heads;
  const journal = new Journal(join(log.dataDir, 'journal.ndjson'));
  await journal.write({ event: 'restored', at, head: small, health: ok, replaced: { ...large!, size: 20 } });
  for (let start = 0; start < 2; start++) {
    const status = await restarted(log);
    expect(status).toMatchObject({
      health: ok,
      regression: { event: 'restored', from_size: 20, to_size: 3 },
    });
    expect(banner(status)).toContain(
      'restored from a backup at 2025-11-21T04:00:00.000Z: the log went back from 20 to 3 leaves; auditors will see it',
    );
  }
});

test('a log that never went back says nothing of it', async () => {
  const status = await restarted(await logOf(3));
  expect(status.regression).toBeUndefined();
  expect(status.warnings).toEqual([]);
  expect(banner(status)).not.toContain('regression');
});

test('lines of a hundred starts are read back', async () => {
  const { journal, path } = await journalOf(...Array.from({ length: 100 }, (_, i) => day(i + 1)));
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(100);
  writeFileSync(path, `${readFileSync(path, 'utf8')}${'x'.repeat(5 * 2 ** 20)}\n`);
  // Older than the part that is read back: the anchor and the log itself still stand for them.
  expect((await journal.read(all)).largest).toBeUndefined();
});
