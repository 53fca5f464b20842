/** For any findings in any batches, the alerts equal those of a naive implementation of merging. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import { type Severity, severities } from '../../../src/contract/vocabulary.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { riskScore } from '../../../src/inventory/alert-scoring.ts';
import { limits } from '../../../src/limits.ts';
import { batchOf, everything, finding, hour, opened, resources, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';

/** A finding and the id of its event, if it has one. */
interface Sight {
  readonly finding: Finding;
  readonly event?: string;
}

interface Merged {
  readonly key: string;
  title: string;
  count: number;
  first: number;
  last: number;
  severity: Severity;
  confidence: number | undefined;
  events: string[];
  evidence: Finding['evidence'];
}

/** Merges naively: each alert keeps all its findings, and all attributes are recomputed on each use. */
function plainly(batches: readonly (readonly Sight[])[]): Merged[] {
  const alerts: Merged[] = [];
  for (const sight of batches.flatMap((batch) => [...batch].sort(byTime))) {
    const { finding: found, event } = sight;
    const time = found.timestamp;
    const bare = (ip: string | undefined) => ip?.replace('::ffff:', '') ?? '';
    const key = [found.rule_source, found.rule_id, bare(found.src_ip), bare(found.dst_ip), found.about].join(' ');
    const away = ({ first, last }: Merged) => Math.max(0, first - time, time - last);
    const near = alerts.filter((alert) => alert.key === key && away(alert) <= Math.max(hour, found.lasts_ms ?? 0));
    let alert = near.reduce<Merged | undefined>(
      (best, each) => (best === undefined || away(each) <= away(best) ? each : best),
      undefined,
    );
    if (alert === undefined) {
      const { title, severity, confidence } = found;
      const begun = { key, title, count: 0, first: time, last: time, severity, confidence };
      alert = { ...begun, events: [], evidence: undefined };
      alerts.push(alert);
    }
    alert.count++;
    if (time >= alert.last && found.evidence !== undefined) {
      alert.evidence = found.evidence;
      alert.title = found.title;
    }
    alert.first = Math.min(alert.first, time);
    alert.last = Math.max(alert.last, time);
    alert.severity = severities[Math.max(...[alert.severity, found.severity].map((s) => severities.indexOf(s)))]!;
    if (found.confidence !== undefined) alert.confidence = Math.max(found.confidence, alert.confidence ?? 0);
    if (event !== undefined) alert.events.push(event);
  }
  return alerts;
}

const byTime = (a: Sight, b: Sight): number => a.finding.timestamp - b.finding.timestamp;
const half = limits.maxAlertEventIds / 2;

/** Returns the sample of event ids: the first and the latest. */
const sampleOf = (events: readonly string[]): readonly string[] =>
  events.length <= 2 * half ? events : [...events.slice(0, half), ...events.slice(-half)];

const findings = fc.record(
  {
    rule_id: fc.constantFrom('1:1', '1:2'),
    src_ip: fc.constantFrom('192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'),
    dst_ip: fc.constantFrom('198.51.100.1', '::ffff:198.51.100.1'),
    title: fc.constantFrom('a', 'b'),
    severity: fc.constantFrom(...severities),
    confidence: fc.constantFrom(0.2, 0.5, 0.9),
    // With these times, a key has no more alerts than the store keeps intervals for the key.
    timestamp: fc.integer({ min: 0, max: 48 }).map((n) => start + n * 600_000),
    evidence: fc.integer().map((n) => ({ n })),
    about: fc.constantFrom('a.example', 'b.example'),
    lasts_ms: fc.constantFrom(60_000, 2 * hour),
    hasEvent: fc.boolean(),
  },
  { requiredKeys: ['rule_id', 'src_ip', 'dst_ip', 'title', 'severity', 'timestamp', 'hasEvent'] },
);

let made = 0;
const nextId = (): string => `00000000-0000-4000-8000-${(++made).toString(16).padStart(12, '0')}`;

test('merged alerts are the same as the alerts of a naive implementation', async () => {
  const batches = fc.array(fc.array(findings, { minLength: 1, maxLength: 60 }), {
    minLength: 1,
    maxLength: 4,
  });
  const { store, reader } = opened();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      const category = `run ${++runs}`;
      const sights = given.map((batch) =>
        batch.map(({ hasEvent, ...changes }): Sight => {
          const about = finding({
            ...(changes as Partial<Finding>),
            category,
            rule_id: `${runs}:${changes.rule_id}`,
          });
          return hasEvent ? { finding: about, event: nextId() } : { finding: about };
        }),
      );
      for (const batch of sights) {
        const builder = new BlockBuilder('network', start);
        let row = 0;
        const findings = batch.map(({ finding: about, event }) => {
          if (event === undefined) return about;
          builder.add(networkRecord({ id: event }));
          return { ...about, event: { block: 0, row: row++ } };
        });
        await store.commit(batchOf(findings, { blocks: row === 0 ? [] : [builder.finish()] }));
      }
      const alerts = resources<Alert>(
        reader.listAlerts({ ...everything, terms: [{ field: 'category', values: [category] }] }),
      ).map(({ attributes }) => ({
        rule: attributes.rule_id,
        ends: [attributes.src_ip, attributes.dst_ip],
        title: attributes.title,
        count: attributes.count,
        seen: [attributes.first_seen, attributes.last_seen],
        severity: attributes.severity,
        confidence: attributes.confidence,
        risk: attributes.risk_score,
        events: attributes.event_ids,
        evidence: attributes.evidence,
      }));
      const wanted = plainly(sights).map((alert) => ({
        rule: alert.key.split(' ')[1],
        ends: alert.key.split(' ').slice(2, 4),
        title: alert.title,
        count: alert.count,
        seen: [alert.first, alert.last].map((time) => new Date(time).toISOString()),
        severity: alert.severity,
        confidence: alert.confidence,
        risk: riskScore(alert.severity, alert.confidence),
        events: sampleOf(alert.events),
        evidence: alert.evidence,
      }));
      const inOrder = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).sort();
      expect(inOrder(alerts)).toEqual(inOrder(wanted));
    }),
    { numRuns: 20 },
  );
});
