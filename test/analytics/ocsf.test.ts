import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectionFinding } from '../../src/analytics/ocsf.ts';
import { alertStatuses, priorities, ruleSources, severities, verdicts } from '../../src/contract/vocabulary.ts';
import { alertOf, idOf } from './alerts.ts';

const id = idOf(7);

describe('an alert as an OCSF detection finding', () => {
  test('has only the required attributes for a new alert without optional attributes', () => {
    expect(detectionFinding(id, alertOf(), '1.2.3')).toEqual({
      metadata: {
        version: '1.5.0',
        product: { name: 'Candor', vendor_name: 'Candor', version: '1.2.3' },
        profiles: ['incident'],
        uid: id,
      },
      category_uid: 2,
      category_name: 'Findings',
      class_uid: 2004,
      class_name: 'Detection Finding',
      activity_id: 1,
      activity_name: 'Create',
      type_uid: 200401,
      type_name: 'Detection Finding: Create',
      time: 1_795_168_801_000,
      start_time: 1_795_168_800_000,
      end_time: 1_795_172_400_000,
      message: 'A name that we look for',
      count: 1,
      is_alert: true,
      severity_id: 4,
      severity: 'High',
      status_id: 1,
      status: 'New',
      finding_info: {
        uid: id,
        title: 'A name that we look for',
        analytic: { uid: 'rule-1', name: 'Bad name', type_id: 1, type: 'Rule' },
        created_time: 1_795_168_801_000,
        modified_time: 1_795_172_401_000,
        first_seen_time: 1_795_168_800_000,
        last_seen_time: 1_795_172_400_000,
        data_sources: ['sigma'],
        related_events_count: 1,
      },
      unmapped: { dedup_key: 'k', note_count: 0, version: 1 },
    });
  });

  test('has all optional attributes for a closed alert with all attributes', () => {
    const finding = detectionFinding(
      id,
      alertOf({
        description: 'It means something.',
        category: 'dns',
        rule_source: 'behaviour',
        severity: 'critical',
        status: 'resolved',
        verdict: 'duplicate',
        priority: 'critical',
        risk_score: 91,
        confidence: 0.5,
        src_ip: '10.0.0.7',
        src_port: 5353,
        dst_ip: '192.0.2.53',
        dst_port: 53,
        transport: 'udp',
        domain: 'c2.example.org',
        asset_ids: [idOf(1)],
        event_ids: [idOf(2), idOf(3)],
        mitre: { tactics: ['TA0011', 'Command and Control'], techniques: ['T1071.004', 'T1568', 'DNS'] },
        evidence: { queries: 812, names: ['a', 'b'] },
        count: 12,
        assignee: 'ana',
        tags: ['dns', 'c2'],
        previous_alert_id: idOf(4),
        version: 9,
      }),
      '1.2.3',
    );
    expect(finding).toMatchObject({
      metadata: { labels: ['dns', 'c2'] },
      activity_id: 3,
      activity_name: 'Close',
      type_uid: 200403,
      is_alert: false,
      count: 12,
      severity_id: 5,
      status_id: 4,
      status: 'Resolved',
      verdict_id: 10,
      verdict: 'Duplicate',
      priority_id: 4,
      risk_score: 91,
      confidence_id: 2,
      confidence: 'Medium',
      confidence_score: 50,
      assignee: { name: 'ana' },
      finding_info: {
        desc: 'It means something.',
        analytic: { type_id: 2, type: 'Behavioral', category: 'dns' },
        attacks: [
          { tactic: { uid: 'TA0011' } },
          { tactic: { name: 'Command and Control' } },
          { technique: { uid: 'T1071' }, sub_technique: { uid: 'T1071.004' } },
          { technique: { uid: 'T1568' } },
          { technique: { name: 'DNS' } },
        ],
        related_events_count: 12,
        related_events: [{ uid: idOf(2) }, { uid: idOf(3) }],
      },
      evidences: [
        {
          src_endpoint: { ip: '10.0.0.7', port: 5353 },
          dst_endpoint: { ip: '192.0.2.53', port: 53 },
          connection_info: { protocol_name: 'udp', direction_id: 0, direction: 'Unknown' },
          query: { hostname: 'c2.example.org' },
          data: { queries: 812, names: ['a', 'b'] },
        },
      ],
      resources: [{ uid: idOf(1), type: 'asset' }],
      unmapped: { previous_alert_id: idOf(4), version: 9 },
    });
  });

  test('has the domain of the alert as destination if the destination is not a resolver', () => {
    const finding = detectionFinding(id, alertOf({ dst_port: 443, domain: 'c2.example.org' }), '1');
    expect(finding).toMatchObject({
      evidences: [{ dst_endpoint: { hostname: 'c2.example.org', port: 443 } }],
    });
    expect(finding).not.toHaveProperty('evidences.0.query');
  });
});

/** The values that the schema allows, copied by hand. */
const allowed = {
  activity_id: [1, 2, 3],
  severity_id: [1, 2, 3, 4, 5],
  status_id: [1, 2, 3, 4, 5],
  verdict_id: [1, 2, 4, 5, 6, 7, 10],
  priority_id: [1, 2, 3, 4],
  confidence_id: [1, 2, 3],
};

test('an OCSF finding has only numbers that the schema allows', () => {
  const alerts = fc.record(
    {
      severity: fc.constantFrom(...severities),
      status: fc.constantFrom(...alertStatuses),
      rule_source: fc.constantFrom(...ruleSources),
      verdict: fc.constantFrom(...verdicts),
      priority: fc.constantFrom(...priorities),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      risk_score: fc.integer({ min: 0, max: 100 }),
      version: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(alerts, (more) => {
      const finding = detectionFinding(id, alertOf(more), '1') as Record<string, unknown>;
      for (const [name, values] of Object.entries(allowed)) {
        if (finding[name] === undefined) continue;
        expect(values).toContain(finding[name]);
        expect(finding[name === 'activity_id' ? 'activity_name' : name.slice(0, -3)]).toEqual(expect.any(String));
      }
      expect(finding.type_uid).toBe(200_400 + (finding.activity_id as number));
      expect(finding.confidence_score ?? 0).toBeGreaterThanOrEqual(0);
      expect(finding.confidence_score ?? 0).toBeLessThanOrEqual(100);
      expect(finding).toHaveProperty('finding_info.analytic.type_id', expect.any(Number));
    }),
  );
});
