import { sha256 } from '../sha256.ts';
import { edgePages, GrowingTree } from '../tlog/growing-tree.ts';
import { pageHashes, pageWidth } from '../tlog/page.ts';
import { equalHashes, hashBytes, leafHash } from '../tlog/tree.ts';
import type { ObservedAnchor } from './anchor.ts';
import { anchorForeign, anchorUnreadable, corrupt, halfWritten, keysLost, rollback } from './distrust.ts';
import { headJudge, verifyHead } from './heads.ts';
import type { JournalReading } from './journal.ts';
import type { LifeStart } from './keys/key-file.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { currentLife, followsLife, type LifeRecord } from './lives/life-entry.ts';
import { checkPlaces, type NotedPlaces, unknownEntry } from './lives/noted-places.ts';
import { LeafIndex } from './storage/leaf-index.ts';
import { Nodes } from './storage/nodes.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from './storage/storage.ts';

/** Entries at the end that are hashed again at each start. */
const rehashed = 256;

/** The heads outside the database. A volume that is unavailable is no evidence; it is compared when it is back. */
export interface Witnesses {
  readonly anchor: ObservedAnchor;
  readonly anchorPath: string;
  readonly journal: JournalReading;
  /** What the database of events remembers; absent where there is none. */
  readonly places?: NotedPlaces | undefined;
  /** Entries before this one may be unknown to the database of events. */
  readonly accepted?: number;
}

/** What appends go on from. */
export interface Recovered {
  readonly tree: GrowingTree;
  readonly leaves: LeafIndex;
  /** How the current life began; undefined in the first one, and before its entry is there. */
  readonly life: LifeRecord | undefined;
  /** The first entry that siem.mdb caused and does not know. */
  readonly unknownToStore: number | undefined;
}

/**
 * Everything that is checked before the log goes on, after a crash as after a clean stop: the head's signature, the
 * nodes of the right edge and the root they give, the last entries and whose they are, and what the anchor and the
 * journal and the database of events remember.
 *
 * @param start - a life that has its keys and not its entry yet
 * @throws Distrust when one of them doesn't hold.
 */
export function recover(
  storage: LedgerStorage,
  keys: KeyRing,
  seen: Witnesses,
  start?: LifeStart,
): Recovered {
  try {
    const head = storage.latestHead();
    const size = head?.size ?? 0;
    if (head !== undefined) checkSignature(head, keys);
    // Before the nodes: a database that went back in time is whole in itself.
    checkNotSmaller(size, keys, seen);
    const tree = checkNodes(storage, size, head);
    const nodes = new Nodes(storage);
    checkEntries(storage, nodes, keys, size);
    checkExtends(nodes, size, keys, seen);
    storage.complete();
    const life = currentLife({ storage, keys, rootAt: (at) => nodes.rootAt(at, size) }, start);
    const hashAt = (index: number) => nodes.hashAt({ level: 0, index }, size);
    const follows = (id: string) => followsLife(storage, hashAt, id);
    const isBeginning = life === undefined && start !== undefined;
    const has = (entryId: string) => (storage.indexOf(entryId) ?? size) < size;
    const entryAt = (index: number) => fieldsOf(storage.canonical(index));
    const compared = { size, life: life?.id, isBeginning, hashAt, has, follows, entryAt };
    const { places, accepted } = seen;
    if (places !== undefined) checkPlaces(places, compared);
    const unknownToStore = places && unknownEntry(places, compared, accepted);
    return { tree, leaves: LeafIndex.load(size, hashAt), life, unknownToStore };
  } catch (error) {
    if (error instanceof DamagedError) throw corrupt(error.message);
    throw error;
  }
}

/** The last head of a database that may be damaged. */
export function readableHead(storage: LedgerStorage | undefined): SignedHead | undefined {
  try {
    return storage?.latestHead();
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}

function checkSignature(head: SignedHead, keys: KeyRing): void {
  checkSigner('The last tree head', head.keyId, keys);
  if (!verifyHead(head, keys))
    throw corrupt(`the signature of the last head (size ${head.size}) is not valid`);
}

/** Key files that are older than the log would let a key sign again that has ended. */
function checkSigner(what: string, kid: string, keys: KeyRing): void {
  const state = keys.get(kid)?.state;
  if (state === undefined)
    throw keysLost(`${what} was signed by key ${kid}, which is not in the folder keys`);
  if (state === 'pending')
    throw keysLost(
      `${what} was signed by key ${kid}, of which the folder keys has a file of before it signed`,
    );
}

function checkNodes(storage: LedgerStorage, size: number, head: SignedHead | undefined): GrowingTree {
  checkNothingBeyond(storage, size);
  const tree = GrowingTree.load(sha256, size, (page) => storage.page(page));
  if (tree === undefined) throw corrupt('the nodes on the right edge of the tree do not fit each other');
  if (head !== undefined && !equalHashes(tree.root(), head.root)) {
    throw corrupt(`the nodes give another root than the signed head of ${size} leaves`);
  }
  return tree;
}

/** One transaction writes entries, nodes and head: where one of them is ahead of the others, it wasn't written as a whole. */
function checkNothingBeyond(storage: LedgerStorage, size: number): void {
  if (storage.canonical(size) !== undefined)
    throw halfWritten(`entry ${size} lies beyond the last head, of ${size} leaves`);
  if (size > 0 && storage.canonical(size - 1) === undefined)
    throw halfWritten(`the last head has ${size} leaves, but entry ${size - 1} is not there`);
  for (const page of edgePages(size)) {
    const wanted = pageHashes(pageWidth(page, size)) * hashBytes;
    const { length } = storage.page(page) ?? { length: 0 };
    if (length > wanted)
      throw halfWritten(
        `the nodes of page ${page.level}/${page.index} go beyond the last head, of ${size} leaves`,
      );
  }
}

function checkEntries(storage: LedgerStorage, nodes: Nodes, keys: KeyRing, size: number): void {
  for (let index = Math.max(0, size - rehashed); index < size; index++) {
    const canonical = storage.canonical(index);
    if (canonical === undefined) throw corrupt(`entry ${index} of ${size} is missing`);
    if (!equalHashes(leafHash(sha256, canonical), nodes.hashAt({ level: 0, index }, size))) {
      throw corrupt(`entry ${index} does not hash to its leaf`);
    }
    const { key_id: kid } = fieldsOf(canonical);
    if (typeof kid === 'string') checkSigner(`Entry ${index}`, kid, keys);
  }
}

/** Fields of an entry; none where it is of another form, which is for `candor fsck` to tell. */
function fieldsOf(canonical: Uint8Array | undefined): Partial<Record<'id' | 'kind' | 'key_id', unknown>> {
  try {
    return JSON.parse(new TextDecoder().decode(canonical)) ?? {};
  } catch {
    return {};
  }
}

function checkNotSmaller(size: number, keys: KeyRing, { anchor, anchorPath, journal }: Witnesses): void {
  if (anchor.kind === 'unreadable') throw anchorUnreadable(anchorPath, anchor.why, size);
  if (anchor.kind === 'head' && !verifyHead(anchor.head, keys)) throw anchorForeign(anchorPath);
  const remembered = Math.max(anchored(anchor, keys)?.size ?? 0, journal.largest?.size ?? 0);
  if (size < remembered) throw rollback(`The log has ${size} leaves, but ${remembered} were signed before.`);
}

/**
 * Compares the log with anchor and journal while it runs, when their volumes are back.
 *
 * @throws Distrust as at start-up
 */
export function compareWitnesses(nodes: Nodes, size: number, keys: KeyRing, seen: Witnesses): void {
  checkNotSmaller(size, keys, seen);
  checkExtends(nodes, size, keys, seen);
}

/** The anchor's head, where it was signed in the current life. */
function anchored(anchor: ObservedAnchor, keys: KeyRing): SignedHead | undefined {
  return anchor.kind === 'head' && headJudge(keys).isCurrent?.(anchor.head) ? anchor.head : undefined;
}

/** The trees that the anchor and the journal remember must be beginnings of this one. */
function checkExtends(nodes: Nodes, size: number, keys: KeyRing, { anchor, journal }: Witnesses): void {
  const head = anchored(anchor, keys);
  if (head !== undefined) checkBeginning(nodes, size, head, 'anchor');
  if (journal.largest !== undefined) checkBeginning(nodes, size, journal.largest, 'journal');
}

function checkBeginning(nodes: Nodes, size: number, head: SignedHead, source: string): void {
  if (head.size > 0 && !equalHashes(nodes.rootAt(head.size, size), head.root)) {
    throw rollback(`The ${source} has another root for ${head.size} leaves than this log.`);
  }
}
