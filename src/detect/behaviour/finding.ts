import type { Finding } from '../../events/finding.ts';
import type { DetectorCard, Sighted } from './detector.ts';

/** Detectors tell once a day of what goes on. */
const lastsMs = 36 * 3600 * 1000;

/** What a detector concluded, as alerts are made of it. */
export function behaviourFinding({ id, name, category, mitre }: DetectorCard, sighted: Sighted): Finding {
  const { title, description, severity, confidence, timestamp, ends, about, evidence } = sighted;
  return {
    rule_id: `behaviour.${id}`,
    rule_name: name,
    rule_source: 'behaviour',
    title,
    description,
    category,
    severity,
    confidence,
    timestamp,
    ...ends,
    mitre,
    ...(about === undefined ? {} : { about }),
    lasts_ms: lastsMs,
    evidence,
  };
}
