import { accuse, corroborationOf } from '../client/accuse.ts';
import type { Evidence } from '../client/evidence.ts';
import { Fault } from '../client/fault.ts';
import type { Pin } from '../client/pin.ts';
import type { SignedHead } from '../client/tree-head.ts';
import type { SizedRoot } from '../tlog/binding.ts';
import { equalHashes } from '../tlog/tree.ts';
import type { Field } from './output.ts';
import { faultReport, keep, type Report } from './report.ts';

/** A pin, and the file that it was read from. */
export interface PinInFile {
  readonly pin: Pin;
  readonly file: string;
}

/** The signed tree of a file: its head, or the note of its checkpoint with the tree that the note names. */
export type Stated =
  | { readonly head: SignedHead }
  | { readonly head: SizedRoot; readonly checkpoint: string };

interface Comparison {
  readonly exit?: undefined;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
}

/**
 * Compares a tree with the pin. Without the log only a tree of the pinned size can be compared. Another root for that size
 * is kept as evidence beside the pin, and reported as misbehaviour only if the evidence convicts.
 */
export async function againstPin(
  stated: Stated,
  pinned: PinInFile | undefined,
): Promise<Comparison | Report> {
  if (pinned === undefined) return { lines: [], fields: {} };
  const { pin, file } = pinned;
  const { size, root } = stated.head;
  if (size !== pin.head.size) {
    const line = `The pin is of size ${pin.head.size}: only its keys were compared. Ask the log with --url.`;
    return { lines: [line], fields: {} };
  }
  if (equalHashes(root, pin.head.root))
    return { lines: ['The same tree as pinned.'], fields: { consistent_with: size } };
  return accusing(new Fault('FORK', `the pin has another root for size ${size}`), pin.log, file, {
    ...('checkpoint' in stated ? { checkpoint: stated.checkpoint } : { head: stated.head }),
    ...evidenceOf(pin),
  });
}

/** The part of evidence that a pin gives. */
export function evidenceOf(pin: Pin) {
  const { head, keys, updatedAt } = pin;
  return {
    ...{ pinnedAt: updatedAt, pinnedHead: head, pinnedKeys: keys, keys },
    corroboration: corroborationOf(pin),
  } satisfies Partial<Evidence>;
}

/** Keeps evidence of a contradiction beside the pin, and reports it. */
export async function accusing(
  fault: Fault,
  log: string,
  pinFile: string,
  shown: Omit<Evidence, 'code' | 'message' | 'log' | 'foundAt'>,
): Promise<Report> {
  const now = Date.now();
  const about = { code: fault.code, message: fault.message, log, foundAt: new Date(now).toISOString() };
  const result = await accuse({ ...about, ...shown }, fault);
  return faultReport(result.fault, await keep(result.evidence, pinFile, now));
}
