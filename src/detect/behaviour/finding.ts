import type { Finding } from '../../events/finding.ts';
import type { DetectorCard, Due, Sighted } from './detector.ts';

/** Detectors tell once a day of what goes on. */
const lastsMs = 36 * 3600 * 1000;

/** What a detector concluded, as alerts are made of it. */
export function behaviourFinding(
  { id, name, category, mitre }: DetectorCard,
  sighted: Sighted,
  due: Due = 'new',
): Finding {
  const { title, description, severity, confidence, timestamp, began, ends, keyed_by, about, evidence } =
    sighted;
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
    ...(began === undefined ? {} : { began }),
    ...(keyed_by === undefined ? {} : { keyed_by }),
    ...(about === undefined ? {} : { about }),
    ...(due === 'new' ? {} : { continues: due }),
    lasts_ms: lastsMs,
    evidence,
  };
}
