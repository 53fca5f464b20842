import { type AnchorState, readAnchor } from '../anchor.ts';
import { milliseconds, offlineJudge } from '../heads.ts';
import { Journal, type JournalReading } from '../journal.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { FindingCode, Findings } from './findings.ts';

/** A head stored outside the file: the log's first `head.size` leaves must have its root. */
export interface ExternalHead {
  readonly head: SignedHead;
  readonly source: string;
  readonly root: FindingCode;
  readonly ahead: FindingCode;
}

interface ExternalHeads {
  /** The signed heads, by size. */
  readonly heads: readonly ExternalHead[];
  readonly isAnchorMissing: boolean;
  /** The content of the journal; undefined if the journal cannot be read. */
  readonly journal: JournalReading | undefined;
}

/**
 * Maximum age of a log whose anchor may still be missing. The anchor is written within a second of the first head; the
 * remaining time allows for a slow disk.
 */
const firstRunMs = 60_000;

/**
 * Returns which of the two records, anchor and journal, a log with entries lacks. A log that was killed in the first
 * second of its first run has no anchor yet, and no head in the journal.
 *
 * @param head - the last head of the log
 */
export function missingRecords(
  head: SignedHead,
  { isAnchorMissing, journal }: Omit<ExternalHeads, 'heads'>,
): ('anchor' | 'journal')[] {
  const { lastAt, heads } = journal ?? {};
  const hasLines = journal === undefined || lastAt !== undefined;
  const ageMs = milliseconds(head.timestampNs) - (lastAt?.getTime() ?? 0);
  const isFirstRun = hasLines && heads?.length === 0 && ageMs < firstRunMs;
  return [...(isAnchorMissing && !isFirstRun ? ['anchor' as const] : []), ...(hasLines ? [] : ['journal' as const])];
}

/**
 * Reads anchor and journal. Unreadable heads and heads not signed by this log become findings; they are not
 * evidence against the log (see `Journal.read`).
 */
export async function readExternalHeads(
  paths: { readonly anchor: string; readonly journal: string },
  keys: KeyRing,
  findings: Findings,
): Promise<ExternalHeads> {
  const anchor = await readAnchor(paths.anchor).catch((error: Error) => error);
  const journal = await readTheJournal(paths.journal, keys, findings);
  const source = { source: 'the journal', root: 'journal_root', ahead: 'journal_ahead' } as const;
  const heads = [
    ...anchoredHeads(anchor, paths.anchor, keys, findings),
    ...(journal?.heads ?? []).map((head) => ({ head, ...source })),
  ];
  return {
    heads: heads.sort((a, b) => a.head.size - b.head.size),
    isAnchorMissing: 'kind' in anchor && anchor.kind === 'missing',
    journal,
  };
}

function anchoredHeads(anchor: AnchorState | Error, path: string, keys: KeyRing, findings: Findings): ExternalHead[] {
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
  const { isSigned, isCurrent } = offlineJudge(keys);
  if (isSigned(head) && !isCurrent(head)) return []; // from an earlier life
  if (isSigned(head)) return [{ head, source: 'the anchor', root: 'anchor_root', ahead: 'anchor_ahead' }];
  const message = `the head of ${head.size} leaves in the anchor ${path} is not signed by this log`;
  findings.add('anchor_signature', message, head.size);
  return [];
}

async function readTheJournal(path: string, keys: KeyRing, findings: Findings): Promise<JournalReading | undefined> {
  const reading = await new Journal(path).read(offlineJudge(keys)).catch((error: Error) => error);
  if (reading instanceof Error) {
    findings.add('journal_unreadable', reading.message);
    return undefined;
  }
  const { lines, count } = reading.unsigned;
  for (const { line, size } of lines) {
    const message = `line ${line} of the journal has a head of ${size} leaves that is not signed by this log`;
    findings.add('journal_signature', message, line);
  }
  if (count > lines.length)
    findings.add('journal_signature', 'earlier lines have heads not signed by this log', 0, count - lines.length);
  return reading;
}
