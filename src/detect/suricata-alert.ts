import type { Severity } from '../contract/vocabulary.ts';
import type { Finding } from '../events/finding.ts';
import type { SuricataAlert, SuricataMetadata } from '../events/sensor-alert.ts';

/**
 * Severity by priority. Priority 1 is the highest of four (classification.config); larger values exist and
 * are less severe.
 */
const severityOf: readonly Severity[] = ['high', 'high', 'medium', 'low', 'informational'];

/** The `confidence` metadata of ET rules as the probability that a match is correct. */
const confidenceOf: ReadonlyMap<string, number> = new Map([
  ['high', 0.9],
  ['medium', 0.6],
  ['low', 0.3],
]);

/** Maximum labels of an alert in the API contract. Real rules have up to five labels of up to 30 characters. */
const maxTags = 100;
const fits = (tag: string): boolean => tag.length >= 1 && tag.length <= 100;

/**
 * Converts a Suricata alert. The revision is not part of the rule's identity: a corrected rule counts as the same rule.
 */
export function findSuricataAlert(alert: SuricataAlert): Finding {
  const { gid, signature_id, rev, signature, category, action, metadata } = alert;
  const confidence = confidenceOf.get(metadata.confidence?.[0]?.toLowerCase() ?? '');
  const mitre = techniques(metadata);
  const blocked = action === 'blocked';
  const tags = [...(blocked ? ['blocked'] : []), ...(metadata.tag ?? []).filter(fits)].slice(0, maxTags);
  return {
    rule_id: `${gid}:${signature_id}`,
    rule_name: signature,
    rule_source: 'suricata',
    title: signature,
    description: `Signature ${gid}:${signature_id}${rev === undefined ? '' : ` revision ${rev}`}${blocked ? ', blocked by the sensor' : ''}.`,
    severity: severity(alert),
    timestamp: alert.timestamp,
    ...(category !== undefined && { category }),
    ...(confidence !== undefined && { confidence }),
    ...(alert.src_ip !== undefined && { src_ip: alert.src_ip }),
    ...(alert.src_port !== undefined && { src_port: alert.src_port }),
    ...(alert.dst_ip !== undefined && { dst_ip: alert.dst_ip }),
    ...(alert.dst_port !== undefined && { dst_port: alert.dst_port }),
    ...(alert.transport !== undefined && { transport: alert.transport }),
    ...(alert.domain !== undefined && { domain: alert.domain }),
    ...(tags.length > 0 && { tags }),
    ...(mitre !== undefined && { mitre }),
    ...(alert.evidence !== undefined && { evidence: alert.evidence }),
  };
}

function severity({ severity, metadata }: SuricataAlert): Severity {
  if (metadata.signature_severity?.some((value) => value.toLowerCase() === 'critical')) return 'critical';
  return severityOf[severity] ?? 'informational';
}

/** Reads the ATT&CK metadata of the rule: identifiers, otherwise names. */
function techniques(metadata: SuricataMetadata): Finding['mitre'] {
  const tactics = metadata.mitre_tactic_id ?? metadata.mitre_tactic_name ?? [];
  const techniques = metadata.mitre_technique_id ?? metadata.mitre_technique_name ?? [];
  return tactics.length + techniques.length === 0 ? undefined : { tactics, techniques };
}
