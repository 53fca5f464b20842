import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes } from '../tlog/tree.ts';
import { AuditFault } from './fault.ts';
import { fetchPage } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';

/**
 * Maximum pages of 1000 heads that are read per size. An idle log signs its head every hour, so this covers two years.
 */
const maxPagesOfSize = 20;

/** Checks that the history of heads contains this head; returns HEAD_MISSING otherwise. */
export async function checkInHistory(log: LogSource, head: SignedHead): Promise<AuditFault | undefined> {
  for await (const one of headsBetween(log, head.size, head.size, maxPagesOfSize)) {
    if (one instanceof AuditFault) return one;
    if (isSame(one, head)) return undefined;
  }
  const at = `${head.timestampNs} ns, root ${bytesToHex(head.root)}`;
  return new AuditFault('HEAD_MISSING', `the history of heads lacks the head of size ${head.size} (${at})`);
}

function isSame(one: SignedHead, other: SignedHead): boolean {
  return one.size === other.size && one.timestampNs === other.timestampNs && equalHashes(one.root, other.root);
}

/**
 * Yields the heads of sizes from `from` to `to`, oldest first; ends with the first fault. Reads at most `maxPages` pages
 * of 1000 heads.
 */
export async function* headsBetween(
  log: LogSource,
  from: number,
  to: number,
  maxPages = Number.POSITIVE_INFINITY,
): AsyncGenerator<SignedHead | AuditFault, void> {
  for (let page = 1; page <= maxPages; page++) {
    const list = await fetchPage(log, `/api/transparency/sths?from_size=${from}&to_size=${to + 1}`, page);
    if (list instanceof AuditFault) return yield list;
    for (const item of list.items) {
      const head = readTreeHead(item);
      yield head;
      if (head instanceof AuditFault) return;
    }
    if (list.isLast) return;
  }
}
