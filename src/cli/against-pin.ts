import type { Evidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { corroborationOf } from '../client/fault-evidence.ts';
import type { Pin } from '../client/pin.ts';
import type { SignedHead } from '../client/tree-head.ts';
import type { SizedRoot } from '../tlog/binding.ts';
import { equalHashes } from '../tlog/tree.ts';
import type { Field } from './output.ts';
import { type Report, reportContradiction } from './report.ts';

/** A pin and the path of its file. */
export interface PinInFile {
  readonly pin: Pin;
  readonly file: string;
}

/** The signed tree in a file: a tree head, or the note of a checkpoint with its size and root. */
export type Stated = { readonly head: SignedHead } | { readonly head: SizedRoot; readonly checkpoint: string };

interface Comparison {
  readonly exit?: undefined;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
}

/**
 * Compares a tree with the pin. Without access to the log, only trees of the pinned size can be compared. A different
 * root for that size is saved as evidence next to the pin, and reported as misbehaviour only if the evidence is
 * conclusive.
 */
export async function againstPin(stated: Stated, pinned: PinInFile | undefined): Promise<Comparison | Report> {
  if (pinned === undefined) return { lines: [], fields: {} };
  const { pin, file } = pinned;
  const { size, root } = stated.head;
  if (size !== pin.head.size) {
    const line = `The pin has size ${pin.head.size}, so only its keys were compared. Use --url to query the log.`;
    return { lines: [line], fields: {} };
  }
  if (equalHashes(root, pin.head.root))
    return { lines: ['Same tree as the pinned one.'], fields: { consistent_with: size } };
  const fault = new AuditFault('FORK', `the pin has another root for size ${size}`);
  const other = 'checkpoint' in stated ? { checkpoint: stated.checkpoint } : { head: stated.head };
  return reportContradiction(fault, { log: pin.log, ...other, ...evidenceOf(pin) }, { file, now: Date.now() });
}

/** Returns the members of evidence that come from a pin. */
export function evidenceOf(pin: Pin) {
  const { head, keys, updatedAt } = pin;
  return {
    ...{ pinnedAt: updatedAt, pinnedHead: head, pinnedKeys: keys, keys },
    corroboration: corroborationOf(pin),
  } satisfies Partial<Evidence>;
}
