import type { AuditResult } from './auditor.ts';
import { type Corroboration, fetchCorroboration, maxCorroborations } from './corroboration.ts';
import { type Evidence, writeEvidence } from './evidence.ts';
import { AuditFault } from './fault.ts';
import type { LogSource } from './log-source.ts';
import type { Pin } from './pin.ts';
import { judge } from './verdict.ts';

/** Returns the cosigned checkpoint that was pinned with the head, if there is one. */
export function corroborationOf(pin: Pin | undefined): readonly Corroboration[] {
  return pin?.checkpoint === undefined ? [] : [{ checkpoint: pin.checkpoint, path: [] }];
}

/**
 * Writes the evidence, with proof from the log of when its heads existed. The fault becomes UNPROVEN instead of
 * misbehaviour if the evidence is not conclusive, or if the key history is `withheld`, because a signing key may have
 * ended.
 */
export async function faultWithEvidence(
  found: Evidence,
  fault: AuditFault,
  log?: LogSource,
  withheld?: AuditFault,
): Promise<AuditResult & { readonly status: 'fault' }> {
  const heads = [found.pinnedHead, found.head].filter((head) => head !== undefined);
  const fetched = log === undefined ? [] : await fetchCorroboration(log, heads);
  const corroboration = [...(found.corroboration ?? []), ...fetched].slice(0, maxCorroborations);
  const { corroboration: _, ...rest } = found;
  const evidence = { ...rest, ...(corroboration.length > 0 && { corroboration }) };
  const { convicts, reason } = judge(evidence);
  const doubt = convicts && withheld !== undefined ? withheldHistory(withheld) : reason;
  const proven =
    fault.kind !== 'misbehaviour' || (convicts && withheld === undefined)
      ? fault
      : new AuditFault('UNPROVEN', `${fault.code}: ${fault.message}; ${doubt}`);
  return { status: 'fault', fault: proven, evidence: writeEvidence(evidence) };
}

function withheldHistory({ code, message }: AuditFault): string {
  return (
    `but the key history is not available (${code}: ${message}), so an attacker with a stolen key that has ended may ` +
    "have signed one of the statements: verify the evidence with the log's current keys (--keys)"
  );
}
