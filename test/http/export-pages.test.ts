import { expect, test } from 'vitest';
import { Semaphore } from '../../src/admission/semaphore.ts';
import { ServiceError } from '../../src/errors.ts';
import { type ExportPage, ExportPages } from '../../src/http/export-pages.ts';
import { type LimitName, limits } from '../../src/limits.ts';

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

/** Returns `read`, which returns or throws the next outcome on each call, and the places with which it was called. */
function served(...outcomes: (ExportPage<string> | Error)[]) {
  const places: (string | undefined)[] = [];
  const read = async (place: string | undefined) => {
    places.push(place);
    const outcome = outcomes.shift();
    if (outcome === undefined || outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { read, places };
}

const overloaded = () => new ServiceError('OVERLOADED', 'busy');
const waiting = (onClose: () => void = () => undefined) => ({
  signal: new AbortController().signal,
  onClose,
});

test('each page continues after the previous one; the slot is released once', async () => {
  const { read, places } = served({ bytes: bytes('1\n'), next: 'a' }, { bytes: bytes('2\n') });
  let closed = 0;
  const pages = await ExportPages.open(
    read,
    waiting(() => void closed++),
  );
  expect(places).toEqual([undefined]);
  expect([await pages.next(), await pages.next(), await pages.next()]).toEqual([bytes('1\n'), bytes('2\n'), undefined]);
  expect(places).toEqual([undefined, 'a']);
  pages.close();
  pages.close();
  expect([closed, await pages.next()]).toEqual([1, undefined]);
});

test('a consumed page releases its memory, except small pages that share a buffer', async () => {
  const large = (mark: string) => bytes(mark.repeat(10_000));
  const small = Buffer.from('small');
  const given = [large('a'), large('b'), small, large('c'), large('d')];
  const { read } = served(...given.map((page, i) => ({ bytes: page, next: String(i) })));
  const pages = await ExportPages.open(read, waiting());
  expect([await pages.next(), await pages.next()]).toEqual([given[0], large('b')]);
  expect(given.map(({ length }) => length)).toEqual([0, 10_000, 5, 10_000, 10_000]);
  await pages.next();
  await pages.next();
  expect([given[1]?.length, small.toString()]).toEqual([0, 'small']);
  pages.close();
  expect(given.map(({ length }) => length)).toEqual([0, 0, 5, 0, 10_000]);
});

test('an error of the first page is thrown; later pages are retried, but only after temporary errors', async () => {
  let closed = 0;
  const first = ExportPages.open(
    served(overloaded()).read,
    waiting(() => void closed++),
  );
  await expect(first).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(closed).toBe(1);
  const later = served({ bytes: bytes('1\n'), next: 'a' }, overloaded(), { bytes: bytes('2\n') });
  const pages = await ExportPages.open(later.read, waiting());
  expect([await pages.next(), await pages.next()]).toEqual([bytes('1\n'), bytes('2\n')]);
  expect(later.places).toEqual([undefined, 'a', 'a']);
  const broken = served({ bytes: bytes(''), next: 'a' }, new TypeError('bug'));
  const others = await ExportPages.open(broken.read, waiting());
  await others.next();
  await expect(others.next()).rejects.toThrow('bug');
});

test('a retry ends when the client disconnects', async () => {
  const controller = new AbortController();
  const { read } = served({ bytes: bytes(''), next: 'a' }, overloaded());
  const pages = await ExportPages.open(read, { signal: controller.signal, onClose: () => undefined });
  await pages.next();
  const next = pages.next();
  controller.abort();
  await expect(next).rejects.toThrow();
});

test('slots are limited, and a released slot can be used again', () => {
  const reached: LimitName[] = [];
  const turns = new Semaphore('maxBulkChanges', (limit) => reached.push(limit));
  const ends = Array.from({ length: limits.maxBulkChanges }, () => turns.take());
  expect(() => turns.take()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  ends[0]?.();
  ends[0]?.();
  turns.take();
  expect(() => turns.take()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(reached).toEqual(['maxBulkChanges', 'maxBulkChanges']);
});

test('one principal cannot use all slots', () => {
  const reached: LimitName[] = [];
  const turns = new Semaphore('maxExports', (limit) => reached.push(limit));
  const ends = Array.from({ length: limits.maxExportsPerPrincipal }, () => turns.take('one'));
  expect(() => turns.take('one')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  turns.take('two');
  turns.take();
  ends[0]?.();
  turns.take('one');
  expect(() => turns.take('one')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  expect(reached).toEqual(['maxExportsPerPrincipal', 'maxExportsPerPrincipal']);
});
