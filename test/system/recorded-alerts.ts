/** Alerts of detectors in recorded networks. */
import { expect } from 'vitest';
import type { Service } from '../../scripts/service.ts';
import type { Evidence } from '../../src/events/finding.ts';
import { alertsAfter, type FoundAlert } from './counted.ts';

export type RecordedAlert = FoundAlert['attributes'];

export interface RecordedAlerts {
  readonly alerts: readonly FoundAlert[];
  of(rule: string, ends?: object): RecordedAlert[];
}

/** Returns the alerts of all events that were sent. */
export async function recordedAlerts(service: Service, admin: string): Promise<RecordedAlerts> {
  return alertsOf(await alertsAfter(service, admin, []));
}

/** Returns functions that find alerts among some alerts. */
export const alertsOf = (alerts: readonly FoundAlert[]): RecordedAlerts => ({
  alerts,
  of: (rule, ends = {}) =>
    alerts
      .map(({ attributes }) => attributes)
      .filter(
        (alert) =>
          alert.rule_id === `behaviour.${rule}` &&
          Object.entries(ends).every(([name, value]) => alert[name as keyof RecordedAlert] === value),
      ),
});

export const severitiesOf = (alerts: readonly FoundAlert[]) => alerts.map(({ attributes }) => attributes.severity);
export const score = (evidence: Evidence, name: string) => Number(evidence[name]);

const scores = ['score', 'timestamp_score', 'data_size_score', 'histogram_score', 'duration_score'];

/** Over the window 1713657591 to 1713743991, RITA scores the beacon 0.963. */
export function expectBeacon(
  found: readonly RecordedAlert[],
  severity: RecordedAlert['severity'],
  direction: string,
): void {
  expect(found).toHaveLength(1);
  const { evidence = {}, transport, count, event_ids } = found[0]!;
  expect(found[0]).toMatchObject({ severity, transport: 'tcp', rule_source: 'behaviour' });
  for (const name of scores) expect(score(evidence, name), name).toBeGreaterThan(0.8);
  for (const name of scores) expect(score(evidence, name), name).toBeLessThanOrEqual(1);
  expect(Math.abs(score(evidence, 'score') - 0.963)).toBeLessThan(0.03);
  const mean = scores.slice(1).reduce((sum, name) => sum + score(evidence, name) / 4, 0);
  expect(score(evidence, 'score')).toBeCloseTo(mean, 2);
  expect(score(evidence, 'connections')).toBeGreaterThan(300);
  expect(evidence).toMatchObject({ direction, histogram: expect.any(Array) });
  // The beacon is reported once a day, not every hour, so its count is low. The alert lists a sample of its events.
  expect([transport, count <= 5, event_ids.length > 0]).toEqual(['tcp', true, true]);
}
