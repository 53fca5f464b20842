import { expect, test } from 'vitest';
import { TokenUses } from '../../src/identities/token-uses.ts';
import { limits } from '../../src/limits.ts';

const minute = 60_000;
const start = Date.UTC(2026, 10, 20, 12);
const at = (minutes: number) => new Date(start + minutes * minute).toISOString();

function setUp() {
  const written: Record<string, string>[] = [];
  const reached: string[] = [];
  const disk = { fails: false };
  const writer = {
    noteTokenUse: async (uses: ReadonlyMap<string, string>) => {
      if (disk.fails) throw new Error('the disk is full');
      written.push(Object.fromEntries(uses));
    },
  };
  return { written, reached, disk, uses: new TokenUses(writer, (limit) => reached.push(limit)) };
}

test('the latest use of each token is written once, to the minute', async () => {
  const { uses, written } = setUp();
  uses.note('a', start + 1);
  uses.note('b', start + 2);
  uses.note('a', start + minute + 59_999);
  await uses.write();
  expect(written).toEqual([{ a: at(1), b: at(0) }]);
  await uses.write();
  expect(written).toHaveLength(1);
});

test('many uses are written in parts, each use once', async () => {
  const { uses, written } = setUp();
  for (let n = 0; n < 2500; n++) uses.note(`t${n}`, start);
  await uses.write();
  expect(written.map((part) => Object.keys(part).length)).toEqual([1000, 1000, 500]);
  expect(new Set(written.flatMap((part) => Object.keys(part))).size).toBe(2500);
});

test('uses that cannot be written are kept for the next write, unless a later use replaces them', async () => {
  const { uses, written, disk } = setUp();
  uses.note('a', start);
  uses.note('b', start);
  disk.fails = true;
  const failing = uses.write();
  uses.note('a', start + 5 * minute);
  await expect(failing).rejects.toThrow('the disk is full');
  disk.fails = false;
  await uses.write();
  expect(written).toEqual([{ a: at(5), b: at(0) }]);
});

test('a full buffer does not accept further tokens and reports the limit', async () => {
  const { uses, reached, written } = setUp();
  for (let n = 0; n < limits.maxTokenUses; n++) uses.note(`t${n}`, start);
  uses.note('t0', start + minute);
  expect(reached).toEqual([]);
  uses.note('one more', start);
  expect(reached).toEqual(['maxTokenUses']);
  await uses.write();
  expect(written[0]).toMatchObject({ t0: at(1) });
});
