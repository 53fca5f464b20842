/**
 * Entries that break the rules of the log although every signature is good: one id twice, or a date far from the append.
 * The heads over them prove that the log signed them. They contradict no other statement, so they do not convict.
 */
import { isAfterHead, isLongBefore } from './entry-dates.ts';
import type { Evidence } from './evidence.ts';
import { Fault } from './fault.ts';
import type { KeyLink } from './key-chain.ts';
import type { KeySet } from './key-set.ts';
import type { LogSource } from './log-source.ts';
import { proveEntry } from './proven-entry.ts';
import type { SignedHead } from './tree-head.ts';
import { readEntry, verifyHead, verifyInclusion } from './verify.ts';

/** An entry in the tree of a signed head. */
export type SignedEntry = KeyLink;

/** Fetches the bytes and the proof of each of these entries. */
export async function fetchSignedEntries(
  log: LogSource,
  wanted: readonly { readonly leafIndex: number; readonly head: SignedHead }[],
  keys: KeySet,
): Promise<SignedEntry[] | Fault> {
  const entries: SignedEntry[] = [];
  for (const { leafIndex, head } of wanted) {
    const proven = await proveEntry(log, { leafIndex }, { head, keys });
    if (proven instanceof Fault) return proven;
    entries.push({ leaf: { leafIndex, canonical: proven.canonical }, path: proven.path, head });
  }
  return entries;
}

interface Shown {
  readonly index: number;
  readonly id: string;
  readonly date: string;
  readonly head: SignedHead;
}

/** What the entries of the evidence prove, in words, or why they prove nothing; undefined where it has none. */
export function shownByEntries(
  { code, entries = [], pinnedHead }: Evidence,
  keys: KeySet,
): string | undefined {
  if (entries.length === 0) return undefined;
  const read = entries.map((entry) => verified(entry, keys));
  const wrong = read.find((one) => one instanceof Fault);
  if (wrong !== undefined) return `${wrong.code}: ${wrong.message}`;
  const [one, other] = read as Shown[];
  const proves = proven(code, one!, other, pinnedHead && verifiedHead(pinnedHead, keys));
  return proves === undefined
    ? 'its entries do not show what was found'
    : `it proves that the log signed ${proves}; this breaks the rules of the log and contradicts no signed statement`;
}

function proven(code: string, one: Shown, other: Shown | undefined, before: SignedHead | undefined) {
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

function verified({ leaf, path, head }: SignedEntry, keys: KeySet): Shown | Fault {
  const key = verifyHead(head, keys);
  if (key instanceof Fault) return key;
  const included = verifyInclusion(leaf, path, head);
  if (included instanceof Fault) return included;
  const read = readEntry(leaf.canonical);
  if (read instanceof Fault) return read;
  return { index: leaf.leafIndex, id: read.entry.id, date: String(read.entry.occurred_at), head };
}

function verifiedHead(head: SignedHead, keys: KeySet): SignedHead | undefined {
  return verifyHead(head, keys) instanceof Fault ? undefined : head;
}

function timeOf({ timestampNs }: SignedHead): string {
  return new Date(Number(timestampNs / 1_000_000n)).toISOString();
}
