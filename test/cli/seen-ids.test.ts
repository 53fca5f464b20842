import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { IdFile } from '../../src/cli/seen-ids.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-ids-'));
  path = join(folder, 'log.pin.ids');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => `id ${first + i}`);

async function opened(size: number): Promise<IdFile> {
  const ids = await IdFile.open(path, size);
  if (ids === undefined) throw new Error('incomplete');
  return ids;
}

test('duplicate ids are found within an audit and across audits', async () => {
  const first = await opened(0);
  expect(await first.add(idsFrom(0, 200_000), 0)).toBeUndefined();
  // More ids than fit the buffer in memory, so that some of the ids are written to the file.
  expect(await first.add(idsFrom(200_000, 100_000), 200_000)).toBeUndefined();
  expect(await first.finish()).toBeUndefined();
  await first.close();

  const second = await opened(300_000);
  expect(await second.add(['new', 'id 7'], 300_000)).toBeUndefined();
  expect(await second.finish()).toEqual([7, 300_001]);
  await second.close();

  const third = await opened(300_000);
  expect(await third.add(['one', 'two', 'one'], 300_000)).toEqual([300_000, 300_002]);
  await third.close();
});

test('the ids of an unfinished audit are discarded, and a file with too few ids is not used', async () => {
  const first = await opened(0);
  await first.add(idsFrom(0, 10), 0);
  await first.finish();
  await first.close();
  appendFileSync(path, Buffer.alloc(5));

  const again = await opened(4);
  expect(await again.add(idsFrom(4, 6), 4)).toBeUndefined();
  expect(await again.finish()).toBeUndefined();
  await again.close();
  expect(await IdFile.open(path, 11)).toBeUndefined();
  expect(await IdFile.open(path, 10)).toBeDefined();
});
