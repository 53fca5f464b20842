/**
 * Entries that break the rules of the log although every signature is valid: two entries with the same id, or a date
 * far from the time of the append. The heads that cover such entries prove that the log signed them. The entries do not
 * contradict another signed statement, so this evidence is not conclusive.
 */
import { isAfterHead, isLongBefore, timeOf } from './entry-dates.ts';
import type { Evidence } from './evidence.ts';
import { AuditFault } from './fault.ts';
import type { KeyLink } from './key-chain.ts';
import type { KeySet } from './key-set.ts';
import type { LogSource } from './log-source.ts';
import { proveEntry } from './proven-entry.ts';
import type { SignedHead } from './tree-head.ts';
import { readEntry, verifyHead, verifyInclusion } from './verify.ts';

/** An entry in the tree of a signed head. */
export type SignedEntry = KeyLink;

/** Fetches and verifies the bytes and the proof of each of these entries. */
export async function fetchSignedEntries(
  log: LogSource,
  wanted: readonly { readonly leafIndex: number; readonly head: SignedHead }[],
  keys: KeySet,
): Promise<SignedEntry[] | AuditFault> {
  const entries: SignedEntry[] = [];
  for (const { leafIndex, head } of wanted) {
    const proven = await proveEntry(log, { leafIndex }, { head, keys });
    if (proven instanceof AuditFault) return proven;
    entries.push({ leaf: { leafIndex, canonical: proven.canonical }, path: proven.path, head });
  }
  return entries;
}

interface EntryDetails {
  readonly index: number;
  readonly id: string;
  readonly date: string;
  readonly head: SignedHead;
}

/** Describes what the entries of the evidence prove, or why they prove nothing; undefined if there are no entries. */
export function describeEntries({ code, entries = [], pinnedHead }: Evidence, keys: KeySet): string | undefined {
  if (entries.length === 0) return undefined;
  const read = entries.map((entry) => verified(entry, keys));
  const wrong = read.find((one) => one instanceof AuditFault);
  if (wrong !== undefined) return `${wrong.code}: ${wrong.message}`;
  const [one, other] = read as EntryDetails[];
  const isSigned = pinnedHead !== undefined && !(verifyHead(pinnedHead, keys) instanceof AuditFault);
  const proves = proven(code, one!, other, isSigned ? pinnedHead : undefined);
  return proves === undefined
    ? 'the entries do not prove the finding'
    : `it proves that the log signed ${proves}; this breaks the rules of the log but does not contradict a signed statement`;
}

function proven(code: string, one: EntryDetails, other: EntryDetails | undefined, before: SignedHead | undefined) {
  const { index, id, date, head } = one;
  const name = `entry ${index}, dated ${date},`;
  switch (code) {
    case 'DUPLICATE_ENTRY':
      return other !== undefined && other.index !== index && other.id === id
        ? `entries ${index} and ${other.index} with the same id ${id}`
        : undefined;
    case 'BACKDATED':
      return before !== undefined && before.size <= index && isLongBefore(date, before)
        ? `${name} after the head of ${timeOf(before)}, which does not cover it`
        : undefined;
    case 'FUTURE':
      return isAfterHead(date, head) ? `${name} under a head of ${timeOf(head)}` : undefined;
    default:
      return undefined;
  }
}

function verified({ leaf, path, head }: SignedEntry, keys: KeySet): EntryDetails | AuditFault {
  const key = verifyHead(head, keys);
  if (key instanceof AuditFault) return key;
  const included = verifyInclusion(leaf, path, head);
  if (included instanceof AuditFault) return included;
  const read = readEntry(leaf.canonical);
  if (read instanceof AuditFault) return read;
  return { index: leaf.leafIndex, id: read.entry.id, date: String(read.entry.occurred_at), head };
}
