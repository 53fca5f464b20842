import { proveEntry } from './auditor.ts';
import { Fault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import type { LogSource } from './log-source.ts';
import type { SignedHead } from './tree-head.ts';

/** Requests under way at once: enough to hide the network, few enough for any service. */
const concurrency = 8;

/**
 * Fetches every entry from index `from` up to the head and verifies its form, its signature and its place in the tree.
 * The first fault, or undefined. Takes two requests an entry.
 */
export async function auditEntries(
  log: LogSource,
  from: number,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
): Promise<Fault | undefined> {
  let next = from;
  let found: Fault | undefined;
  async function work(): Promise<void> {
    while (found === undefined && next < signed.head.size) {
      const proven = await proveEntry(log, { leafIndex: next++ }, signed);
      if (proven instanceof Fault) found ??= proven;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return found;
}
