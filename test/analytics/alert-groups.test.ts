import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupAlerts } from '../../src/analytics/alert-groups.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { AlertGroups } from '../../src/contract/resources/alert-groups.ts';
import { validate } from '../../src/contract/validate.ts';
import { alertGroupings, alertStatuses, severities } from '../../src/contract/vocabulary.ts';
import { alertOf, everyAlert, idOf, readerOf } from './alerts.ts';

const time = fc.integer({ min: 0, max: 9 }).map((hour) => new Date(Date.UTC(2026, 10, 20, hour)).toISOString());
const alerts = fc.array(
  fc
    .record(
      {
        rule_id: fc.constantFrom('a', 'b', 'c'),
        category: fc.constantFrom('x', 'y'),
        src_ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3'),
        severity: fc.constantFrom(...severities),
        status: fc.constantFrom(...alertStatuses),
        asset_ids: fc.uniqueArray(fc.constantFrom(idOf(1), idOf(2), idOf(3)), { maxLength: 2 }),
        count: fc.integer({ min: 1, max: 5 }),
        first_seen: time,
        last_seen: time,
      },
      { requiredKeys: ['count'] },
    )
    .map((more) => alertOf(more)),
  { maxLength: 40 },
);
const numbered = (all: readonly Alert[]) => new Map(all.map((alert, n) => [idOf(n), alert]));

/** Returns the values of an alert, implemented independently. */
function valuesOf(alert: Alert, by: (typeof alertGroupings)[number]): (string | undefined)[] {
  if (by === 'asset_id') return alert.asset_ids.length === 0 ? [undefined] : [...alert.asset_ids];
  return [alert[by]];
}

test('groups equal the groups of a naive count, largest first; all other values are counted together', () => {
  fc.assert(
    fc.property(alerts, fc.constantFrom(...alertGroupings), fc.integer({ min: 1, max: 4 }), (all, by, limit) => {
      const found = validate(AlertGroups, groupAlerts(readerOf(numbered(all)), { by, filter: everyAlert, limit }));
      const findings = (some: readonly Alert[]) => some.reduce((sum, { count }) => sum + count, 0);
      const values = new Set(all.flatMap((alert) => valuesOf(alert, by)));
      expect(found).toMatchObject({ by, alerts: all.length, findings: findings(all), complete: true });
      expect(found.distinct).toBe(values.size);
      expect(found.groups.length).toBe(Math.min(values.size, limit));
      for (const group of found.groups) {
        const of = all.filter((alert) => valuesOf(alert, by).includes(group.value));
        const ranks = of.map(({ severity }) => severities.indexOf(severity));
        expect(group).toMatchObject({
          alerts: of.length,
          findings: findings(of),
          severity: severities[Math.max(...ranks)],
          first_seen: of.map(({ first_seen }) => first_seen).sort()[0],
          last_seen: of
            .map(({ last_seen }) => last_seen)
            .sort()
            .at(-1),
        });
        for (const status of alertStatuses)
          expect(group.statuses[status]).toBe(of.filter((alert) => alert.status === status).length);
      }
      const sizes = found.groups.map((group) => group.alerts);
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
      const shown = new Set(found.groups.map(({ value }) => value));
      const hidden = all.flatMap((alert) =>
        valuesOf(alert, by)
          .filter((value) => !shown.has(value))
          .map(() => alert),
      );
      expect(found.others).toEqual({ alerts: hidden.length, findings: findings(hidden) });
    }),
  );
});

test('beyond the limit of groups, values that only older alerts have are counted together', () => {
  const all = numbered(Array.from({ length: 10 }, (_, n) => alertOf({ src_ip: `10.0.0.${n}`, count: n + 1 })));
  const found = groupAlerts(readerOf(all), { by: 'src_ip', filter: everyAlert, limit: 2 }, 3);
  expect(found.groups.map(({ value }) => value)).toEqual(['10.0.0.9', '10.0.0.8']);
  expect(found).toMatchObject({
    complete: false,
    alerts: 10,
    findings: 55,
    distinct: 3,
    others: { alerts: 8, findings: 36 },
  });
});
