import type { Ed25519Verifier } from '../tlog/note.ts';
import { pageColumns } from '../tlog/page.ts';
import { equalHashes } from '../tlog/tree.ts';
import { type Contradiction, checkExtension } from './consistency.ts';
import { type DateFinding, EntryDates } from './entry-dates.ts';
import type { ServedTree } from './evidence.ts';
import { AuditFault } from './fault.ts';
import { headsBetween } from './head-history.ts';
import type { KeySet } from './key-set.ts';
import { fetchAllKeys } from './latest.ts';
import { DuplicateEntry, emptyTree, LeafAudit, type TreeEdge } from './leaf-audit.ts';
import { type LogSource, NotFound, patient } from './log-source.ts';
import { placeOfMismatch, TileAudit, type TileMismatch } from './tile-audit.ts';
import { fetchEntryBundle, fetchRoot } from './tiles.ts';
import type { SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

/**
 * Concurrent requests for entry bundles: enough to hide latency. Bundles have at most 16 MB, typically some
 * 100 kB.
 */
const concurrency = 4;

/** The ids of all entries of a log, to detect duplicates. */
export interface SeenIds {
  /**
   * Adds the ids of the entries from index `first` on. Returns a pair of indices with the same id; undefined if no such
   * pair is known yet.
   */
  add(ids: readonly string[], first: number): Promise<readonly [number, number] | undefined>;
  /**
   * Completes the check after the last entry. Returns a pair of indices with the same id; undefined if all ids differ.
   */
  finish(): Promise<readonly [number, number] | undefined>;
}

export interface EntriesOptions {
  /** The tree whose entries were already checked. Default: the empty tree, so that all entries are checked. */
  readonly start?: TreeEdge;
  /** The head of the tree `start`. */
  readonly startHead?: SignedHead | undefined;
  /** Verifies signatures of entries. Must accept the same signatures as the default, `verifyEd25519` (1 ms each). */
  readonly verify?: Ed25519Verifier;
  /** Ids already seen. Default: only duplicates less than about 260,000 entries apart are found. */
  readonly ids?: SeenIds;
  /** Trusted tree-head keys. A wrong root signed by a trusted key is a contradiction. */
  readonly trusted?: KeySet;
  /**
   * Called after each bundle. Entries with indices below `next` have been checked; `end` is the index after the last
   * entry.
   */
  onProgress?(next: number, end: number): void;
}

export interface CheckedRange {
  /** The tree from which the next check continues. */
  readonly tree: TreeEdge;
  /** Entries signed by a key that was revoked later. */
  readonly byRevokedKeys: number;
  /** The first 20 entries dated outside the window around their append. */
  readonly dates: readonly DateFinding[];
}

/** An earlier head in the history that contradicts the latest head: only one of them has the root of the entries. */
export interface FalseHead extends Contradiction {
  readonly head: SignedHead;
}

/**
 * A fault: the latest head has a different root than the entries. The position of an entry is not signed, so the
 * different root alone does not prove misbehaviour.
 */
export class WrongRoot extends AuditFault {
  readonly served: ServedTree;
  /** The latest head in the history that matches the entries. */
  readonly head: SignedHead | undefined;
  /** The log's response to the request for a consistency proof between `head` and the latest head. */
  readonly answer: string | undefined;

  constructor({ code, message }: AuditFault, served: ServedTree, head?: SignedHead, answer?: string) {
    super(code, message);
    this.served = served;
    this.head = head;
    this.answer = answer;
  }
}

/**
 * Fetches every entry from the start to the head in bundles (C2SP tlog-tiles), the tiles over them and the
 * history of heads. Checks format, signature, id and date of each entry, the root of each head, and every
 * hash of every changed tile. Reading entries requires a role. Memory use is independent of the size of the
 * log.
 */
export async function auditEntries(
  log: LogSource,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
  options: EntriesOptions = {},
): Promise<CheckedRange | FalseHead | AuditFault> {
  const { start = emptyTree, verify, ids, onProgress } = options;
  const { head, keys } = signed;
  if (start.size > head.size) throw new Error(`start: size ${start.size} exceeds the head's size ${head.size}`);
  const source = patient(log);
  const leaves = new LeafAudit(keys, start, verify);
  const tiles = new TileAudit(source, start.size);
  const history = new HistoryCheck(source, start.size, head, options.startHead);
  const add = async (canonical: Uint8Array) => {
    const entry = leaves.add(canonical, tiles.onNode);
    if (!(entry instanceof AuditFault) || entry.code !== 'UNKNOWN_KEY') return entry;
    // The key set has only current keys, but old entries need all keys.
    const all = await fetchAllKeys(source, keys);
    if (all instanceof AuditFault) return all;
    leaves.useKeys(all);
    return leaves.add(canonical, tiles.onNode);
  };
  for await (const entries of bundles(source, start.size, head.size)) {
    if (entries instanceof AuditFault) return entries;
    const first = leaves.size;
    const added: string[] = [];
    for (const canonical of entries) {
      const entry = await add(canonical);
      if (entry instanceof AuditFault) return entry;
      added.push(entry.id);
      const failed = await history.check(leaves, String(entry.occurred_at));
      if (failed !== undefined) return failed;
    }
    const duplicateIndices = await ids?.add(added, first);
    if (duplicateIndices !== undefined) return new DuplicateEntry(duplicateIndices);
    const failed = await tiles.checkFull();
    if (failed !== undefined) return failed;
    onProgress?.(leaves.size, head.size);
  }
  const duplicateIndices = await ids?.finish();
  if (duplicateIndices !== undefined) return new DuplicateEntry(duplicateIndices);
  const failed = await tiles.checkPartial(leaves.tree);
  if (failed !== undefined) return failed;
  const { mismatch } = tiles;
  if (!equalHashes(leaves.root(), head.root)) {
    const tilesRoot = await fetchRoot(source, head.size);
    const differsAt = mismatch && placeOfMismatch(mismatch);
    const about = {
      from: start.size,
      entriesRoot: leaves.root(),
      ...(differsAt !== undefined && { differsAt }),
    };
    const served = tilesRoot instanceof AuditFault ? about : { ...about, tilesRoot };
    const found = wrongRoot(mismatch, start.size, head.size);
    return againstHistory(source, head, new WrongRoot(found, served), history.trueHead, options.trusted);
  }
  if (mismatch !== undefined)
    return new AuditFault('WRONG_TILE', `${placeOfMismatch(mismatch)} does not match the entries`);
  if (history.falseHead !== undefined) return falseHead(source, history.falseHead, head, options.trusted);
  return { tree: leaves.tree, byRevokedKeys: leaves.byRevokedKeys, dates: history.dates.findings };
}

/** Compares entries with the heads that the log signed while these entries were appended. */
class HistoryCheck {
  readonly dates = new EntryDates();
  readonly #heads: AsyncGenerator<SignedHead | AuditFault, void>;
  readonly #last: SignedHead;
  #next: SignedHead | undefined;
  /** The head that precedes `#next` in the history. */
  #before: SignedHead | undefined;
  #started = false;
  #falseHead: SignedHead | undefined;
  #trueHead: SignedHead | undefined;

  constructor(log: LogSource, from: number, last: SignedHead, before: SignedHead | undefined) {
    this.#before = before;
    this.#heads = headsBetween(log, from + 1, last.size);
    this.#last = last;
  }

  /** The first head whose root differs from that of the entries; undefined if all checked heads match. */
  get falseHead(): SignedHead | undefined {
    return this.#falseHead;
  }

  /** The last head whose root is that of the entries; undefined if no checked head matches. */
  get trueHead(): SignedHead | undefined {
    return this.#trueHead;
  }

  /** Checks the date of the entry that was just added to `leaves`, and the roots of the heads of this size. */
  async check(leaves: LeafAudit, occurredAt: string): Promise<AuditFault | undefined> {
    const failed = this.#started ? undefined : await this.#advance();
    if (failed !== undefined) return failed;
    this.dates.check(leaves.size - 1, occurredAt, this.#next ?? this.#last, this.#before);
    while (this.#next !== undefined && this.#next.size <= leaves.size) {
      if (this.#next.size === leaves.size) {
        if (equalHashes(leaves.root(), this.#next.root)) this.#trueHead = this.#next;
        else this.#falseHead ??= this.#next;
      }
      const wrong = await this.#advance();
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  async #advance(): Promise<AuditFault | undefined> {
    this.#started = true;
    const { value } = await this.#heads.next();
    if (value instanceof AuditFault) return value instanceof NotFound ? undefined : value;
    this.#before = this.#next ?? this.#before;
    this.#next = value ?? undefined;
    return undefined;
  }
}

async function falseHead(
  log: LogSource,
  head: SignedHead,
  last: SignedHead,
  trusted: KeySet = new Map(),
): Promise<FalseHead | AuditFault> {
  const wrongHead = new AuditFault(
    'WRONG_ROOT',
    `the head of size ${head.size} in the history has a different root than the entries`,
  );
  if (verifyHead(head, trusted) instanceof AuditFault) return wrongHead;
  const found = await checkExtension(log, head, last);
  return found === undefined || found instanceof AuditFault ? wrongHead : { ...found, head };
}

/** Compares the latest head with the last head that matches the entries: they may contradict each other. */
async function againstHistory(
  log: LogSource,
  last: SignedHead,
  found: WrongRoot,
  head: SignedHead | undefined,
  trusted: KeySet = new Map(),
): Promise<FalseHead | WrongRoot> {
  if (head === undefined || verifyHead(head, trusted) instanceof AuditFault) return found;
  const result = await checkExtension(log, head, last);
  const contradiction = result === undefined || result instanceof AuditFault ? undefined : result;
  if (contradiction?.fault.kind === 'misbehaviour') return { ...contradiction, head };
  return new WrongRoot(found, found.served, head, contradiction?.answer);
}

/** Yields the entries of [from, to) in order, one bundle at a time; ends with the first fault. */
export async function* bundles(
  log: LogSource,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array[] | AuditFault, void> {
  if (from >= to) return;
  const waiting: Promise<Uint8Array[] | AuditFault>[] = [];
  let next = Math.floor(from / pageColumns);
  const request = (): void => {
    const width = Math.min(pageColumns, to - next * pageColumns);
    if (width > 0) waiting.push(fetchEntryBundle(log, next++, width));
  };
  for (let i = 0; i < concurrency; i++) request();
  let skip = from % pageColumns;
  for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
    const entries = await first;
    request();
    yield entries instanceof AuditFault ? entries : entries.slice(skip);
    if (entries instanceof AuditFault) return;
    skip = 0;
  }
}

/** Returns NOT_INCLUDED with the index if an entry differs from its hash in a tile; otherwise WRONG_ROOT. */
function wrongRoot(mismatch: TileMismatch | undefined, from: number, size: number): AuditFault {
  if (mismatch?.tile.level === 0 && mismatch.column !== undefined) {
    const index = mismatch.tile.index * pageColumns + mismatch.column;
    return new AuditFault('NOT_INCLUDED', `entry ${index} does not match its hash in the tree of size ${size}`);
  }
  const where = mismatch === undefined ? '' : `; ${placeOfMismatch(mismatch)} differs`;
  return new AuditFault('WRONG_ROOT', `the entries from ${from} on have a different root for size ${size}${where}`);
}
