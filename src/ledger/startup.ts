import { sha256 } from '../crypto/sha256.ts';
import { caught } from '../errors.ts';
import type { LogPositions } from '../store/log-positions.ts';
import { edgePages, GrowingTree } from '../tlog/growing-tree.ts';
import { pageHashes, pageWidth } from '../tlog/page.ts';
import { equalHashes, hashBytes, leafHash } from '../tlog/tree.ts';
import type { ObservedAnchor } from './anchor.ts';
import { anchorForeign, anchorUnreadable, corrupt, halfWritten, keysLost, orCorrupt, rollback } from './distrust.ts';
import { headJudge, verifyHead } from './heads.ts';
import type { JournalReading } from './journal.ts';
import type { LifeStart } from './keys/key-file.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { currentLife, followsLife, type LifeRecord } from './lives/life-entry.ts';
import { checkPositions, unknownEntry } from './lives/log-positions.ts';
import { LeafIndex } from './storage/leaf-index.ts';
import { Nodes } from './storage/nodes.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from './storage/storage.ts';

/** Number of entries at the end of the log that are hashed again at each start. */
const rehashed = 256;

/** Records of the log outside the database. Records on an unavailable volume are compared when the volume is back. */
export interface ExternalRecords {
  readonly anchor: ObservedAnchor;
  readonly anchorPath: string;
  readonly journal: JournalReading;
  /** Records of the log in the event database; absent if there is no such database. */
  readonly positions?: LogPositions | undefined;
  /** Entries before this index may be unknown to the event database. */
  readonly accepted?: number;
}

/** The state from which appends continue. */
export interface Recovered {
  readonly tree: GrowingTree;
  readonly leaves: LeafIndex;
  /**
   * The start of the current life; undefined in the first life, and before the entry of the life is logged.
   */
  readonly life: LifeRecord | undefined;
  /** The first entry that siem.mdb caused but has not recorded. */
  readonly unknownToStore: number | undefined;
}

/**
 * Checks the log before it accepts entries, whether it crashed or was stopped: the signature of the head, the nodes of
 * the right edge and their root, the last entries and their signers, and the records in anchor, journal, key files and
 * event database.
 *
 * @param start - a life that has its keys but not its entry yet
 * @throws UntrustedLogError if a check fails
 */
export function recover(storage: LedgerStorage, keys: KeyRing, seen: ExternalRecords, start?: LifeStart): Recovered {
  return orCorrupt(() => {
    const head = storage.latestHead();
    const size = head?.size ?? 0;
    if (head !== undefined) checkSignature(head, keys);
    // Checked before the nodes, because a database that was rolled back is internally consistent.
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
    const { positions, accepted } = seen;
    if (positions !== undefined) checkPositions(positions, compared);
    const unknownToStore = positions && unknownEntry(positions, compared, accepted);
    return { tree, leaves: LeafIndex.load(size, hashAt), life, unknownToStore };
  });
}

/** Returns the last head of a database that may be damaged; undefined if it cannot be read. */
export function readableHead(storage: LedgerStorage | undefined): SignedHead | undefined {
  return caught(DamagedError, undefined, () => storage?.latestHead());
}

function checkSignature(head: SignedHead, keys: KeyRing): void {
  checkSigner('The last tree head', head.keyId, keys);
  if (!verifyHead(head, keys)) throw corrupt(`the signature of the last head (size ${head.size}) is not valid`);
}

/**
 * Rejects a signer whose key file is missing, or still pending: a pending key has signed nothing, so its file is older
 * than the log.
 */
function checkSigner(what: string, kid: string, keys: KeyRing): void {
  const state = keys.get(kid)?.state;
  if (state === undefined) throw keysLost(`${what} was signed by key ${kid}, which is not in the folder keys`);
  if (state === 'pending')
    throw keysLost(
      `${what} was signed by key ${kid}, and the file of this key in the folder keys is older than its first signature`,
    );
}

function checkNodes(storage: LedgerStorage, size: number, head: SignedHead | undefined): GrowingTree {
  checkNothingBeyond(storage, size);
  const tree = GrowingTree.load(sha256, size, (page) => storage.page(page));
  if (tree === undefined) throw corrupt('the nodes on the right edge of the tree are inconsistent');
  if (head !== undefined && !equalHashes(tree.root(), head.root)) {
    throw corrupt(`the root of the nodes differs from the signed head of ${size} leaves`);
  }
  return tree;
}

/**
 * Checks that no entries or nodes are beyond the head. Entries, nodes and head are written in one transaction. If one
 * of them is ahead of the others, a write was incomplete.
 */
function checkNothingBeyond(storage: LedgerStorage, size: number): void {
  if (storage.canonical(size) !== undefined)
    throw halfWritten(`entry ${size} lies beyond the last head, of ${size} leaves`);
  if (size > 0 && storage.canonical(size - 1) === undefined)
    throw halfWritten(`the last head has ${size} leaves, but entry ${size - 1} is missing`);
  for (const page of edgePages(size)) {
    const wanted = pageHashes(pageWidth(page, size)) * hashBytes;
    const { length } = storage.page(page) ?? { length: 0 };
    if (length > wanted)
      throw halfWritten(`the nodes of page ${page.level}/${page.index} go beyond the last head, of ${size} leaves`);
  }
}

function checkEntries(storage: LedgerStorage, nodes: Nodes, keys: KeyRing, size: number): void {
  for (let index = Math.max(0, size - rehashed); index < size; index++) {
    const canonical = storage.canonical(index);
    if (canonical === undefined) throw corrupt(`entry ${index} of ${size} is missing`);
    if (!equalHashes(leafHash(sha256, canonical), nodes.hashAt({ level: 0, index }, size))) {
      throw corrupt(`entry ${index} does not match its leaf hash`);
    }
    const { key_id: kid } = fieldsOf(canonical);
    if (typeof kid === 'string') checkSigner(`Entry ${index}`, kid, keys);
  }
}

/** Returns fields of an entry; no fields if the entry is malformed, which `candor fsck` reports. */
function fieldsOf(canonical: Uint8Array | undefined): Partial<Record<'id' | 'kind' | 'key_id', unknown>> {
  try {
    return JSON.parse(new TextDecoder().decode(canonical)) ?? {};
  } catch {
    return {};
  }
}

function checkNotSmaller(size: number, keys: KeyRing, { anchor, anchorPath, journal }: ExternalRecords): void {
  if (anchor.kind === 'unreadable') throw anchorUnreadable(anchorPath, anchor.why, size);
  if (anchor.kind === 'head' && !verifyHead(anchor.head, keys)) throw anchorForeign(anchorPath);
  const remembered = Math.max(anchored(anchor, keys)?.size ?? 0, journal.largest?.size ?? 0);
  if (size < remembered) throw rollback(`The log has ${size} leaves, but ${remembered} are known to have been signed.`);
  const { recordedSize } = keys;
  if (size < recordedSize)
    throw rollback(`The log has ${size} leaves, but a key file records that it had ${recordedSize}.`);
}

/**
 * Compares the running log with the anchor and the journal when their volumes are back.
 *
 * @throws UntrustedLogError as at start-up
 */
export function compareExternalRecords(nodes: Nodes, size: number, keys: KeyRing, seen: ExternalRecords): void {
  checkNotSmaller(size, keys, seen);
  checkExtends(nodes, size, keys, seen);
}

/** Returns the anchor's head if it was signed in the current life; undefined otherwise. */
function anchored(anchor: ObservedAnchor, keys: KeyRing): SignedHead | undefined {
  return anchor.kind === 'head' && headJudge(keys).isCurrent(anchor.head) ? anchor.head : undefined;
}

/** Requires that the trees in anchor and journal are prefixes of this tree. */
function checkExtends(nodes: Nodes, size: number, keys: KeyRing, { anchor, journal }: ExternalRecords): void {
  const head = anchored(anchor, keys);
  if (head !== undefined) checkBeginning(nodes, size, head, 'anchor');
  if (journal.largest !== undefined) checkBeginning(nodes, size, journal.largest, 'journal');
}

function checkBeginning(nodes: Nodes, size: number, head: SignedHead, source: string): void {
  if (head.size > 0 && !equalHashes(nodes.rootAt(head.size, size), head.root)) {
    throw rollback(`The ${source} and this log have different roots for ${head.size} leaves.`);
  }
}
