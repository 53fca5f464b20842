import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { banner } from '../../src/ledger/banner.ts';
import { toJson } from '../../src/ledger/heads.ts';
import { Journal, type JournalLine } from '../../src/ledger/journal.ts';
import type { SignedHead } from '../../src/ledger/storage/storage.ts';
import { copyOf, type KnownLog, logOf } from './damaged-log.ts';
import { folder, open } from './fixture.ts';

const at = new Date('2025-11-21T04:00:00.000Z');
const ok = { state: 'ok' } as const;
const all = { isSigned: () => true };
const none = { isSigned: () => false };

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

test('a missing journal is read as empty', async () => {
  const reading = await (await journalOf()).journal.read(all);
  expect(reading).toMatchObject({ heads: [], largest: undefined, regression: undefined, unreadable: 0 });
});

test('the largest head is found regardless of the order of lines', async () => {
  const { journal } = await journalOf(day(3), day(9), { ...day(9), event: 'start' }, day(5));
  expect((await journal.read(all)).largest).toMatchObject({ size: 9 });
});

test('a line written while degraded is ignored', async () => {
  const health = { state: 'degraded', fault: 'half_written', advice: '' } as const;
  const { journal, path } = await journalOf(day(3), { ...day(9), health });
  expect((await journal.read(all)).largest).toMatchObject({ size: 3 });
  expect(readFileSync(path, 'utf8')).toContain('"fault":"half_written"');
});

/** Returns a line in the format of earlier versions of this program, without a signature. */
function oldLine(event: 'restored' | 'rebuilt', ns: bigint, went: SignedHead | undefined, from: number): string {
  const at = new Date(Number(ns / 1_000_000n)).toISOString();
  const of = (one: SignedHead) => writeTreeHead(toJson(one));
  const heads = `${went === undefined ? '' : `,"head":${of(went)}`},"replaced":${of(head(from))}`;
  return `{"at":"${at}","event":"${event}","health":"ok"${heads}}\n`;
}

const ms = 1_000_000n * 1024n;
const timed = (size: number, time: bigint): SignedHead => ({ ...head(size), timestampNs: time * ms });
const dayAt = (size: number, time: bigint): JournalLine => ({ ...day(size), head: timed(size, time) });

describe('an unsigned line of an earlier version', () => {
  test.each(['restored', 'rebuilt'] as const)(
    '(%s) discards the heads signed before it, once the log has signed a later head',
    async (event) => {
      const { journal, path } = await journalOf(dayAt(700, 1n), dayAt(900, 2n));
      appendFileSync(path, oldLine(event, 3n * ms, timed(5, 1n), 900));
      await journal.write(dayAt(6, 4n));
      expect(await journal.read(all)).toMatchObject({
        heads: [{ size: 6 }],
        largest: { size: 6 },
        regression: { event, from_size: 900, to_size: 5 },
      });
    },
  );

  test('does not discard heads if no later head was signed, as in a rolled-back log', async () => {
    const { journal, path } = await journalOf(dayAt(5, 1n), dayAt(900, 2n));
    appendFileSync(path, oldLine('rebuilt', 3n * ms, timed(5, 1n), 900));
    const reading = await journal.read({ ...all, latest: timed(5, 1n) });
    expect(reading).toMatchObject({ largest: { size: 900 }, regression: undefined });
  });

  test('takes effect if the log itself ends with a later head', async () => {
    const { journal, path } = await journalOf(dayAt(900, 2n));
    appendFileSync(path, oldLine('restored', 3n * ms, timed(5, 1n), 900));
    const reading = await journal.read({ ...all, latest: timed(6, 4n) });
    expect(reading).toMatchObject({ largest: undefined, regression: { to_size: 5 } });
  });

  test('that is moved to the end does not discard heads signed after its time', async () => {
    const { journal, path } = await journalOf(dayAt(700, 1n), dayAt(6, 4n), dayAt(80, 5n));
    appendFileSync(path, oldLine('restored', 3n * ms, timed(5, 1n), 700));
    expect((await journal.read(all)).heads.map(({ size }) => size)).toEqual([6, 80]);
  });
});

test('unsigned heads are not evidence, and are listed separately', async () => {
  const isSigned = ({ root }: SignedHead) => root[0] === 1;
  const { journal } = await journalOf(day(30), { ...day(400), head: head(400, 7) }, { ...day(2), head: head(2, 7) });
  expect(await journal.read({ isSigned })).toMatchObject({
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

test('heads of an earlier life are ignored, and are not reported as unsigned', async () => {
  const { journal } = await journalOf(day(30), day(7));
  const reading = await journal.read({ ...all, isCurrent: ({ size }) => size < 10 });
  expect(reading).toMatchObject({ largest: { size: 7 }, unsigned: { count: 0 } });
});

test('a line with only the entry that began a life does not discard heads', async () => {
  const entry = new TextEncoder().encode('{"kind":"log.life_started"}');
  const line: JournalLine = { event: 'restored', at: new Date(), head: head(5), health: ok, entry };
  const { journal } = await journalOf(day(700), line, day(9));
  expect(await journal.read(all)).toMatchObject({
    largest: { size: 700 },
    regression: undefined,
    lives: [{ line: 2, entry: Buffer.from(entry).toString('base64') }],
  });
});

test('other content of the file is skipped and counted', async () => {
  const { journal, path } = await journalOf(day(4));
  appendFileSync(path, '{"at":"2025-\n\nnull\n7\n[]\n{"at":1,"event":"day","health":"ok"}\n\u0000\u0001');
  await journal.write(day(5));
  const reading = await journal.read(all);
  expect(reading.largest).toMatchObject({ size: 5 });
  expect(reading.unreadable).toBe(6);
  expect(await journal.read(none)).toMatchObject({ largest: undefined, unsigned: { count: 2 } });
});

test('each failed write is reported', async () => {
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

test('a restore by an earlier version is shown in status and banner at every start', async () => {
  const log = copyOf(await logOf(3, 9));
  const [, large] = log.heads;
  const path = join(log.dataDir, 'journal.ndjson');
  appendFileSync(path, oldLine('restored', large!.timestampNs - ms, log.heads[0], 20));
  for (let start = 0; start < 2; start++) {
    const status = await restarted(log);
    expect(status).toMatchObject({
      health: ok,
      regression: { event: 'restored', from_size: 20, to_size: 3 },
    });
    expect(banner(status)).toMatch(/restored from a backup at .*: the log went back from 20 to 3 leaves/);
  }
});

test('a log that was never restored reports no regression', async () => {
  const status = await restarted(await logOf(3));
  expect(status.regression).toBeUndefined();
  expect(status.warnings).toEqual([]);
  expect(banner(status)).not.toContain('regression');
});

test('only the last part of a long journal is read', async () => {
  const { journal, path } = await journalOf(...Array.from({ length: 100 }, (_, i) => day(i + 1)));
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(100);
  writeFileSync(path, `${readFileSync(path, 'utf8')}${'x'.repeat(5 * 2 ** 20)}\n`);
  // The heads are older than the part of the journal that is read back; the anchor and the log still have
  // them.
  expect((await journal.read(all)).largest).toBeUndefined();
});
