import { expect, test } from 'vitest';
import type { ExportPage, ExportQuery } from '../../src/analytics/alert-export.ts';
import { ServiceError } from '../../src/errors.ts';
import { ExportPages } from '../../src/http/export-pages.ts';
import { Turns } from '../../src/http/turns.ts';
import { type LimitName, limits } from '../../src/limits.ts';

const asked = { filter: { terms: [] }, format: 'ndjson', version: '1' } as const;
const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

/** Pages, or what is thrown in place of one, in turn. */
function served(...outcomes: (ExportPage | Error)[]) {
  const queries: ExportQuery[] = [];
  const reached: LimitName[] = [];
  const services = {
    queries: {
      run: async (_task: string, query: ExportQuery) => {
        queries.push(query);
        const outcome = outcomes.shift();
        if (outcome === undefined || outcome instanceof Error) throw outcome;
        return outcome;
      },
    },
    metrics: { limitReached: (limit: LimitName) => reached.push(limit) },
  } as unknown as Parameters<typeof ExportPages.open>[0];
  return { services, queries, reached };
}

const place = { after: 'a', until: 'z' };
const overloaded = () => new ServiceError('OVERLOADED', 'busy');

test('each page goes on where the one before ended; the place is given back once', async () => {
  const { services, queries } = served({ lines: bytes('1\n'), next: place }, { lines: bytes('2\n') });
  let closed = 0;
  const pages = await ExportPages.open(services, asked, new AbortController().signal, () => closed++);
  expect(queries).toEqual([asked]);
  expect([await pages.next(), await pages.next(), await pages.next()]).toEqual([
    bytes('1\n'),
    bytes('2\n'),
    undefined,
  ]);
  expect(queries[1]).toEqual({ ...asked, place });
  pages.close();
  pages.close();
  expect([closed, await pages.next()]).toEqual([1, undefined]);
});

test('the first page is refused as any query is; later ones are tried again', async () => {
  const first = served(overloaded());
  let closed = 0;
  const { signal } = new AbortController();
  await expect(ExportPages.open(first.services, asked, signal, () => closed++)).rejects.toMatchObject({
    code: 'OVERLOADED',
  });
  expect([closed, first.reached]).toEqual([1, ['maxQueuedQueries']]);
  const later = served({ lines: bytes('1\n'), next: place }, overloaded(), { lines: bytes('2\n') });
  const pages = await ExportPages.open(later.services, asked, signal, () => undefined);
  expect([await pages.next(), await pages.next()]).toEqual([bytes('1\n'), bytes('2\n')]);
  const broken = served({ lines: bytes(''), next: place }, new TypeError('bug'));
  const others = await ExportPages.open(broken.services, asked, signal, () => undefined);
  await others.next();
  await expect(others.next()).rejects.toThrow('bug');
});

test('nobody waits for a client that has gone', async () => {
  const controller = new AbortController();
  const { services } = served({ lines: bytes(''), next: place }, overloaded());
  const pages = await ExportPages.open(services, asked, controller.signal, () => undefined);
  await pages.next();
  const next = pages.next();
  controller.abort();
  await expect(next).rejects.toThrow();
});

test('turns are as many as the limit says, and come back', () => {
  const reached: LimitName[] = [];
  const turns = new Turns('maxExports', (limit) => reached.push(limit));
  const ends = Array.from({ length: limits.maxExports }, () => turns.take());
  expect(() => turns.take()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  ends[0]?.();
  ends[0]?.();
  turns.take();
  expect(() => turns.take()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(reached).toEqual(['maxExports', 'maxExports']);
});
