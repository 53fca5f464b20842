import type { Finding } from '../../../events/finding.ts';
import type { Detection, DetectorCard, Due } from '../detector.ts';

/** Time for which a behaviour counts as continuing after a report: detectors report it once a day. */
const lastsMs = 36 * 3600 * 1000;

/** Converts a detection into a finding, from which alerts are made. */
export function behaviourFinding(
  { id, name, category, mitre }: DetectorCard,
  detection: Detection,
  due: Due = 'new',
): Finding {
  const { title, description, severity, confidence, timestamp, began, ends, keyed_by, about, evidence } = detection;
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
