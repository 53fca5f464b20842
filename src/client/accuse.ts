import type { AuditResult } from './auditor.ts';
import { type Corroboration, fetchCorroboration, maxCorroborations } from './corroboration.ts';
import { type Evidence, writeEvidence } from './evidence.ts';
import { Fault } from './fault.ts';
import type { LogSource } from './log-source.ts';
import type { Pin } from './pin.ts';
import { judge } from './verdict.ts';

/** Returns the cosigned checkpoint that was pinned with the head, if any. */
export function corroborationOf(pin: Pin | undefined): readonly Corroboration[] {
  return pin?.checkpoint === undefined ? [] : [{ checkpoint: pin.checkpoint, path: [] }];
}

/**
 * Writes the evidence, with proof from the log of when its heads existed. If the evidence does not convict,
 * the fault becomes UNPROVEN instead of misbehaviour.
 */
export async function accuse(
  found: Evidence,
  fault: Fault,
  log?: LogSource,
): Promise<AuditResult & { readonly status: 'fault' }> {
  const heads = [found.pinnedHead, found.head].filter((head) => head !== undefined);
  const fetched = log === undefined ? [] : await fetchCorroboration(log, heads);
  const corroboration = [...(found.corroboration ?? []), ...fetched].slice(0, maxCorroborations);
  const { corroboration: _, ...rest } = found;
  const evidence = { ...rest, ...(corroboration.length > 0 && { corroboration }) };
  const { convicts, reason } = judge(evidence);
  const proven =
    convicts || fault.kind !== 'misbehaviour'
      ? fault
      : new Fault('UNPROVEN', `${fault.code}: ${fault.message}; ${reason}`);
  return { status: 'fault', fault: proven, evidence: writeEvidence(evidence) };
}
