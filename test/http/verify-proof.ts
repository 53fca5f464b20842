import { parseEventProof, verifySealedEvent } from '../../src/client/event-proof.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';

/** Verifies the bundle and the values of a proof. Returns the event, or the fault found. */
export function verifyProof(text: string) {
  const file = parseEventProof(text);
  if (file instanceof AuditFault) return file;
  const bundle = parseBundle(file.bundle);
  if (bundle instanceof AuditFault) return bundle;
  const entry = verifyBundle(bundle);
  return entry instanceof AuditFault ? entry : verifySealedEvent(file, entry);
}
