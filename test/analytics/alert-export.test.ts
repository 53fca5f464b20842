import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExportPlace, exportAlerts } from '../../src/analytics/alert-export.ts';
import { alertOf, everyAlert, idOf, readerOf } from './alerts.ts';

const linesOf = (bytes: Uint8Array): { id: string }[] =>
  Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('each alert is exported at most once and none is missing, although alerts change and arrive during the export', () => {
  const step = fc.record({ changes: fc.array(fc.nat(49)), comes: fc.array(fc.integer({ min: 0, max: 99 })) });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(49)),
      fc.infiniteStream(step),
      fc.integer({ min: 1, max: 3000 }),
      (there, steps, bytes) => {
        const alerts = new Map(there.map((n) => [idOf(2 * n), alertOf()]));
        const throughout = [...alerts.keys()];
        const last = throughout.toSorted().at(-1) ?? '';
        const reader = readerOf(alerts);
        const seen: string[] = [];
        let place: ExportPlace | undefined;
        for (const { changes, comes } of steps) {
          const page = exportAlerts(
            reader,
            {
              filter: everyAlert,
              format: 'ndjson',
              version: '1',
              ...(place === undefined ? {} : { place }),
            },
            bytes,
          );
          seen.push(...linesOf(page.lines).map(({ id }) => id));
          place = page.next;
          if (place === undefined) break;
          for (const n of changes)
            if (alerts.has(idOf(2 * n)))
              alerts.set(idOf(2 * n), alertOf({ last_seen: new Date().toISOString(), version: 2 }));
          for (const n of comes) alerts.set(idOf(n), alertOf());
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(seen.toSorted());
        expect(seen).toEqual(expect.arrayContaining(throughout));
        for (const id of seen) expect(id <= last).toBe(true);
      },
    ),
  );
});

test('an export with a filter that matches few alerts has empty pages and still ends', () => {
  const alerts = new Map(
    Array.from({ length: 50_000 }, (_, n) => [idOf(n), alertOf({ title: n === 49_999 ? 'x' : 'y' })]),
  );
  const query = {
    filter: { terms: [{ field: 'title', values: ['x'] }] },
    format: 'ocsf',
    version: '1',
  } as const;
  const reader = readerOf(alerts);
  const first = exportAlerts(reader, query);
  expect([first.lines.byteLength, first.next?.until]).toEqual([0, idOf(49_999)]);
  const second = exportAlerts(reader, { ...query, place: first.next! });
  const third = exportAlerts(reader, { ...query, place: second.next! });
  expect([second.lines.byteLength, third.next]).toEqual([0, undefined]);
  expect(linesOf(third.lines)).toMatchObject([{ class_uid: 2004, finding_info: { uid: idOf(49_999) } }]);
});
