import { parseEventProof, verifySealedEvent } from '../../src/client/event-proof.ts';
import { Fault } from '../../src/client/fault.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';

/** The event that the text of a proof shows, once its bundle and its values verified. */
export function verifyProof(text: string) {
  const file = parseEventProof(text);
  if (file instanceof Fault) return file;
  const bundle = parseBundle(file.bundle);
  if (bundle instanceof Fault) return bundle;
  const entry = verifyBundle(bundle);
  return entry instanceof Fault ? entry : verifySealedEvent(file, entry);
}
