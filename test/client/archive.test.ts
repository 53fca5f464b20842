import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { writeArchiveHeader, writeArchiveLine } from '../../src/client/archive.ts';
import { beginArchive, type ExportOptions, exportEntries } from '../../src/client/archive-export.ts';
import { type VerifiedArchive, verifyArchive } from '../../src/client/archive-verify.ts';
import { AuditFault, type FaultCode } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { ServedLog } from './served-log.ts';

const size = 270;
let log: ServedLog;
let whole: string[];
let part: string[];
beforeAll(async () => {
  log = await ServedLog.start();
  await log.append(size);
  whole = await exported();
  part = await exported({ from: 3, to: 11 });
});
afterAll(() => log.close());

async function exported(range: Partial<ExportOptions> = {}, of = log): Promise<string[]> {
  const source = httpLog(of.url);
  const header = await beginArchive(source, { now: of.now, ...range });
  if (header instanceof AuditFault) throw new Error(`${header.code}: ${header.message}`);
  const lines = [writeArchiveHeader(header)];
  for await (const batch of exportEntries(source, header)) {
    if (batch instanceof AuditFault) throw new Error(`${batch.code}: ${batch.message}`);
    lines.push(...batch.entries.map((bytes, i) => writeArchiveLine(batch.first + i, bytes)));
  }
  return lines;
}

async function verify(lines: readonly string[]): Promise<VerifiedArchive | AuditFault> {
  async function* given(): AsyncGenerator<string> {
    for (const line of lines) yield line.trimEnd();
  }
  return verifyArchive(given());
}

test('an archive contains a complete log, with the checkpoint of its head', async () => {
  expect(await verify(whole)).toMatchObject({
    entries: size,
    header: { from: 0, to: size, edge: [], proof: [] },
    checkpoint: { size },
    byRevokedKeys: 0,
  });
});

test.each([
  [0, 1],
  [0, 256],
  [1, 2],
  [3, 11],
  [8, 16],
  [255, 257],
  [256, size],
  [size - 1, size],
])('an archive contains the entries from %d to below %d, linked to the head by edge and proof', async (from, to) => {
  const lines = await exported({ from, to });
  expect(lines).toHaveLength(1 + to - from);
  expect(await verify(lines)).toMatchObject({ entries: to - from, header: { from, to, head: { size } } });
});

test('an archive cannot have a range that the log does not have', async () => {
  const source = httpLog(log.url);
  for (const [from, to] of [
    [5, 5],
    [6, 5],
    [0, size + 1],
    [size, size],
  ] as const) {
    expect(await beginArchive(source, { now: 0, from, to })).toMatchObject({ code: 'NO_SUCH_RANGE' });
  }
});

const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
const recoded = (line: string, from: string, to: string) =>
  line.replace(/"canonical":"(.*)"/, (_all, text: string) => `"canonical":"${btoa(atob(text).replace(from, to))}"`);
const otherActor = (line: string) => recoded(line, '"system"', '"nobody"');
const edited = (lines: readonly string[], n: number, change: (line: string) => string) =>
  lines.map((line, i) => (i === n ? change(line) : line));

const cases: readonly (readonly [FaultCode, string, () => string[]])[] = [
  ['MALFORMED_ARCHIVE', 'no lines', () => []],
  ['MALFORMED_ARCHIVE', 'no first line', () => part.slice(1)],
  ['MALFORMED_ARCHIVE', 'another format', () => edited(part, 0, (line) => line.replace('archive/1', 'archive/2'))],
  ['MALFORMED_ARCHIVE', 'the last entry missing', () => part.slice(0, -1)],
  ['MALFORMED_ARCHIVE', 'an additional entry', () => [...part, part.at(-1)!.replace(':10,', ':11,')]],
  [
    'MALFORMED_ARCHIVE',
    'an edge that is too short',
    () => edited(part, 0, (line) => line.replace(/"edge":\["\w+",/, '"edge":[')),
  ],
  ['MALFORMED_LEAF', 'a line that is not an entry', () => edited(part, 3, () => '{}')],
  ['MALFORMED_LEAF', 'a truncated line', () => edited(part, 3, (line) => line.slice(0, 50))],
  ['WRONG_LEAF', 'a missing entry', () => part.filter((_, i) => i !== 4)],
  ['WRONG_LEAF', 'a repeated entry', () => [...part.slice(0, 4), part[3]!, ...part.slice(4)]],
  [
    'DUPLICATE_ENTRY',
    'a repeated entry under the next index',
    () => edited(part, 4, () => part[3]!.replace(':5,', ':6,')),
  ],
  ['BAD_ENTRY_SIGNATURE', 'a changed word of an entry', () => edited(part, 4, otherActor)],
  ['NOT_CANONICAL', 'an additional space in an entry', () => edited(part, 4, (line) => recoded(line, '{', '{ '))],
  ['WRONG_ROOT', 'a shorter range', () => edited(part, 0, (line) => line.replace('"to":11', '"to":10')).slice(0, -1)],
  [
    'WRONG_ROOT',
    'a changed hash of the edge',
    () => edited(part, 0, (line) => flip(line, line.indexOf('"edge"') + 20)),
  ],
  [
    'WRONG_ROOT',
    'a changed hash of the proof',
    () => edited(part, 0, (line) => flip(line, line.indexOf('"proof"') + 20)),
  ],
  [
    'BAD_SIGNATURE',
    'a changed time of the head',
    () => edited(part, 0, (line) => line.replace(/"timestamp_ns":1/, '"timestamp_ns":2')),
  ],
  ['UNKNOWN_KEY', 'no keys', () => edited(part, 0, (line) => line.replace(/"keys":\[.*\]/, '"keys":[]'))],
  [
    'UNSIGNED_CHECKPOINT',
    'a changed checkpoint',
    () => edited(whole, 0, (line) => line.replace(`\\n${size}\\n`, `\\n${size - 1}\\n`)),
  ],
];

describe('a changed archive is rejected', () => {
  test.each(cases)('%s: %s', async (code, _what, lines) => {
    const changed = lines();
    expect(changed).not.toEqual(part);
    expect(await verify(changed)).toMatchObject({ code });
  });

  test('MALFORMED_ARCHIVE: a valid checkpoint of a different size is not misbehaviour', async () => {
    const young = await ServedLog.start();
    onTestFinished(() => young.close());
    await young.append(2);
    const small = await (await fetch(`${young.url}/checkpoint`)).text();
    await young.append(1);
    const lines = await exported({}, young);
    const other = `"checkpoint":${JSON.stringify(small)},"head"`;
    const put = edited(lines, 0, (line) => line.replace(/"checkpoint":"[^"]*","head"/, other));
    expect(await verify(put)).toMatchObject({ code: 'MALFORMED_ARCHIVE' });
  });

  test('UNKNOWN_KEY: the caller passes an empty key set', async () => {
    async function* given(): AsyncGenerator<string> {
      yield* part;
    }
    const keys = parseKeySet('[]');
    expect(keys instanceof AuditFault || (await verifyArchive(given(), { keys }))).toMatchObject({
      code: 'UNKNOWN_KEY',
    });
  });

  test('WRONG_ROOT: an export of entries that do not match the head is never completed', async () => {
    log.serveEdited(2, (entry) => Object.assign(entry, { actor: 'nobody' }), true);
    await expect(exported()).rejects.toThrow('WRONG_ROOT');
    await expect(exported({ from: 0, to: 5 })).rejects.toThrow('WRONG_ROOT');
    expect(await verify(await exported({ from: 4, to: 9 }))).toMatchObject({ entries: 5 });
  });
});
