import { readAnchor } from '../anchor.ts';
import { Journal, type Regression } from '../journal.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { FindingCode, Findings } from './findings.ts';
import type { PublicKeys } from './public-keys.ts';

/** A head stored outside the file: the log's first `head.size` leaves must have its root. */
export interface WitnessedHead {
  readonly head: SignedHead;
  readonly source: string;
  readonly root: FindingCode;
  readonly ahead: FindingCode;
}

/**
 * Returns the signed heads in anchor and journal, by size. Unreadable heads and heads not signed by this log
 * become findings; they are not evidence against the log (see `Journal.read`).
 */
export async function readWitnesses(
  paths: { readonly anchor: string; readonly journal: string },
  keys: PublicKeys,
  findings: Findings,
): Promise<{ readonly heads: WitnessedHead[]; readonly regression: Regression | undefined }> {
  const anchor = await readTheAnchor(paths.anchor, keys, findings);
  const { heads, regression } = await readTheJournal(paths.journal, keys, findings);
  return { heads: [...anchor, ...heads].sort((a, b) => a.head.size - b.head.size), regression };
}

async function readTheAnchor(path: string, keys: PublicKeys, findings: Findings): Promise<WitnessedHead[]> {
  const anchor = await readAnchor(path).catch((error: Error) => error);
  if (anchor instanceof Error) {
    findings.add('anchor_unreadable', anchor.message);
    return [];
  }
  if (anchor.kind === 'missing') return [];
  if (anchor.kind === 'unreadable') {
    findings.add('anchor_unreadable', `the anchor ${path} has no head: ${anchor.why}`);
    return [];
  }
  const { head } = anchor;
  if (keys.isSigned(head) && !keys.isCurrent(head)) return []; // of an earlier life
  if (keys.isSigned(head))
    return [{ head, source: 'the anchor', root: 'anchor_root', ahead: 'anchor_ahead' }];
  const message = `the head of ${head.size} leaves in the anchor ${path} is not signed by this log`;
  findings.add('anchor_signature', message, head.size);
  return [];
}

async function readTheJournal(
  path: string,
  keys: PublicKeys,
  findings: Findings,
): Promise<{ readonly heads: WitnessedHead[]; readonly regression: Regression | undefined }> {
  const reading = await new Journal(path).read(keys).catch((error: Error) => error);
  if (reading instanceof Error) {
    findings.add('journal_unreadable', reading.message);
    return { heads: [], regression: undefined };
  }
  const { lines, count } = reading.unsigned;
  for (const { line, size } of lines) {
    const message = `line ${line} of the journal has a head of ${size} leaves that is not signed by this log`;
    findings.add('journal_signature', message, line);
  }
  if (count > lines.length) findings.add('journal_signature', 'and earlier lines', 0, count - lines.length);
  const { regression } = reading;
  const source = { source: 'the journal', root: 'journal_root', ahead: 'journal_ahead' } as const;
  return { heads: reading.heads.map((head) => ({ head, ...source })), regression };
}
