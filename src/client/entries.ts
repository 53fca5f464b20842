import type { Ed25519Verifier } from '../tlog/note.ts';
import { pageColumns } from '../tlog/page.ts';
import { equalHashes } from '../tlog/tree.ts';
import { type Contradiction, checkExtension } from './consistency.ts';
import { type DateFinding, EntryDates } from './entry-dates.ts';
import type { ServedTree } from './evidence.ts';
import { Fault } from './fault.ts';
import { headsBetween } from './head-history.ts';
import type { KeySet } from './key-set.ts';
import { fetchAllKeys } from './latest.ts';
import { DuplicateEntry, emptyTree, LeafAudit, type TreeEdge } from './leaf-audit.ts';
import { type LogSource, NotFound, patient } from './log-source.ts';
import { placeOfMismatch, TileAudit, type TileMismatch } from './tile-audit.ts';
import { fetchEntryBundle, fetchRoot } from './tiles.ts';
import type { SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

/** Bundles of entries under way at once: enough to hide the network; each may have 16 MB, real ones some 100 kB. */
const concurrency = 4;

/** Ids of all entries of a log, to find one that comes twice. */
export interface SeenIds {
  /** Takes the ids of the entries from index `first` on; the first pair of indices with one id that is known by now. */
  add(ids: readonly string[], first: number): Promise<readonly [number, number] | undefined>;
  /** The same after the last entry. */
  finish(): Promise<readonly [number, number] | undefined>;
}

export interface EntriesOptions {
  /** The tree whose entries were checked before. Default: the empty one, so that all are. */
  readonly start?: TreeEdge;
  /** The head of that tree. */
  readonly startHead?: SignedHead | undefined;
  /** Verifies the signatures of entries instead of @noble/ed25519 (1 ms each), under the same policy. */
  readonly verify?: Ed25519Verifier;
  /** Default: only ids that are less than some 250,000 entries apart are compared. */
  readonly ids?: SeenIds;
  /** Tree-head keys that the caller trusts: a false root under one of them is a contradiction. */
  readonly trusted?: KeySet;
  /** Called after each bundle: indices below `next` are done, up to `end`. */
  onProgress?(next: number, end: number): void;
}

export interface CheckedRange {
  /** Where to go on the next time. */
  readonly tree: TreeEdge;
  /** Entries that a key signed which was revoked later. */
  readonly byRevokedKeys: number;
  /** Entries dated outside of the window of their append. */
  readonly dates: readonly DateFinding[];
}

/** An earlier head of the history that contradicts the latest one: only one of the two has the root of the entries. */
export interface FalseHead extends Contradiction {
  readonly head: SignedHead;
}

/** The latest head has another root than the entries. They are not signed by position, so this is no proof against the operator. */
export class WrongRoot extends Fault {
  readonly served: ServedTree;
  /** The latest head of the history whose root the entries give. */
  readonly head: SignedHead | undefined;
  /** The answer of the log to the request for a proof between the two heads. */
  readonly answer: string | undefined;

  constructor({ code, message }: Fault, served: ServedTree, head?: SignedHead, answer?: string) {
    super(code, message);
    this.served = served;
    this.head = head;
    this.answer = answer;
  }
}

/**
 * Fetches every entry from the start up to the head, in bundles (C2SP tlog-tiles), the tiles over them and the history
 * of heads: the form, signature, id and date of each entry, the root of each head, and every hash of every tile that
 * grew. Reading entries needs a role. Memory does not grow with the log.
 */
export async function auditEntries(
  log: LogSource,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
  options: EntriesOptions = {},
): Promise<CheckedRange | FalseHead | Fault> {
  const { start = emptyTree, verify, ids, onProgress } = options;
  const { head, keys } = signed;
  if (start.size > head.size) throw new Error(`entries from ${start.size} on in a tree of ${head.size}`);
  const source = patient(log);
  const leaves = new LeafAudit(keys, start, verify);
  const tiles = new TileAudit(source, start.size);
  const history = new HistoryCheck(source, start.size, head, options.startHead);
  const add = async (canonical: Uint8Array) => {
    const entry = leaves.add(canonical, tiles.onNode);
    if (!(entry instanceof Fault) || entry.code !== 'UNKNOWN_KEY') return entry;
    // The key set has current keys only.
    const all = await fetchAllKeys(source, keys);
    if (all instanceof Fault) return all;
    leaves.useKeys(all);
    return leaves.add(canonical, tiles.onNode);
  };
  for await (const entries of bundles(source, start.size, head.size)) {
    if (entries instanceof Fault) return entries;
    const first = leaves.size;
    const added: string[] = [];
    for (const canonical of entries) {
      const entry = await add(canonical);
      if (entry instanceof Fault) return entry;
      added.push(entry.id);
      const failed = await history.check(leaves, String(entry.occurred_at));
      if (failed !== undefined) return failed;
    }
    const twice = await ids?.add(added, first);
    if (twice !== undefined) return duplicate(twice);
    const failed = await tiles.checkFull();
    if (failed !== undefined) return failed;
    onProgress?.(leaves.size, head.size);
  }
  const twice = await ids?.finish();
  if (twice !== undefined) return duplicate(twice);
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
    const served = tilesRoot instanceof Fault ? about : { ...about, tilesRoot };
    const found = wrongRoot(mismatch, start.size, head.size);
    return againstHistory(source, head, new WrongRoot(found, served), history.trueHead, options.trusted);
  }
  if (mismatch !== undefined)
    return new Fault('WRONG_TILE', `${placeOfMismatch(mismatch)} is not what the entries give`);
  if (history.falseHead !== undefined) return falseHead(source, history.falseHead, head, options.trusted);
  return { tree: leaves.tree, byRevokedKeys: leaves.byRevokedKeys, dates: history.dates.findings };
}

/** Compares entries with the heads that were signed while they came. */
class HistoryCheck {
  readonly dates = new EntryDates();
  readonly #heads: AsyncGenerator<SignedHead | Fault, void>;
  readonly #last: SignedHead;
  #next: SignedHead | undefined;
  /** The head before `next`. */
  #before: SignedHead | undefined;
  #begun = false;
  #falseHead: SignedHead | undefined;
  #trueHead: SignedHead | undefined;

  constructor(log: LogSource, from: number, last: SignedHead, before: SignedHead | undefined) {
    this.#before = before;
    this.#heads = headsBetween(log, from + 1, last.size);
    this.#last = last;
  }

  /** The first head whose root the entries do not give. */
  get falseHead(): SignedHead | undefined {
    return this.#falseHead;
  }

  /** The last head whose root the entries give. */
  get trueHead(): SignedHead | undefined {
    return this.#trueHead;
  }

  /** The entry that was just added to `leaves`, against the first head that covers it. */
  async check(leaves: LeafAudit, occurredAt: string): Promise<Fault | undefined> {
    const failed = this.#begun ? undefined : await this.#advance();
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

  async #advance(): Promise<Fault | undefined> {
    this.#begun = true;
    const { value } = await this.#heads.next();
    if (value instanceof Fault) return value instanceof NotFound ? undefined : value;
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
): Promise<FalseHead | Fault> {
  const told = new Fault(
    'WRONG_ROOT',
    `the head of size ${head.size} in the history has another root than its entries`,
  );
  if (verifyHead(head, trusted) instanceof Fault) return told;
  const found = await checkExtension(log, head, last);
  return found === undefined || found instanceof Fault ? told : { ...found, head };
}

/** Compares the latest head with the last one that has the entries: the two may contradict each other. */
async function againstHistory(
  log: LogSource,
  last: SignedHead,
  found: WrongRoot,
  head: SignedHead | undefined,
  trusted: KeySet = new Map(),
): Promise<FalseHead | WrongRoot> {
  if (head === undefined || verifyHead(head, trusted) instanceof Fault) return found;
  const apart = await checkExtension(log, head, last);
  const contradiction = apart === undefined || apart instanceof Fault ? undefined : apart;
  if (contradiction?.fault.kind === 'misbehaviour') return { ...contradiction, head };
  return new WrongRoot(found, found.served, head, contradiction?.answer);
}

function duplicate([first, second]: readonly [number, number]): Fault {
  return new DuplicateEntry([first, second], `entries ${first} and ${second} have the same id`);
}

/** The entries of [from, to), in order, a bundle at a time; ends with the first fault. */
export async function* bundles(
  log: LogSource,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array[] | Fault, void> {
  if (from >= to) return;
  const waiting: Promise<Uint8Array[] | Fault>[] = [];
  let next = Math.floor(from / pageColumns);
  const ask = (): void => {
    const width = Math.min(pageColumns, to - next * pageColumns);
    if (width > 0) waiting.push(fetchEntryBundle(log, next++, width));
  };
  for (let i = 0; i < concurrency; i++) ask();
  let skip = from % pageColumns;
  for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
    const entries = await first;
    ask();
    yield entries instanceof Fault ? entries : entries.slice(skip);
    if (entries instanceof Fault) return;
    skip = 0;
  }
}

/** Names what differs: where a leaf differs from its tile, that one. */
function wrongRoot(mismatch: TileMismatch | undefined, from: number, size: number): Fault {
  if (mismatch?.tile.level === 0 && mismatch.column !== undefined) {
    const index = mismatch.tile.index * pageColumns + mismatch.column;
    return new Fault('NOT_INCLUDED', `entry ${index} is not the one whose hash is in the tree of ${size}`);
  }
  const where = mismatch === undefined ? '' : `; ${placeOfMismatch(mismatch)} differs`;
  return new Fault('WRONG_ROOT', `the entries from ${from} on give another root for size ${size}${where}`);
}
