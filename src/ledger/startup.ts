import { GrowingTree } from '../tlog/growing-tree.ts';
import { equalHashes, leafHash } from '../tlog/tree.ts';
import type { AnchorState } from './anchor.ts';
import { verifyHead } from './heads.ts';
import type { KeyRing } from './keys.ts';
import { LeafIndex } from './leaf-index.ts';
import type { LedgerHealth } from './ledger.ts';
import { Nodes } from './nodes.ts';
import { sha256 } from './sha256.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from './storage.ts';

/** Entries at the end that are hashed again at each start. */
const rehashed = 256;

type Fault = Extract<LedgerHealth, { state: 'degraded' }>['fault'];

/** Why the log can't be trusted to go on from what is on disk. */
export class Distrust extends Error {
  readonly fault: Fault;
  readonly advice: string;

  constructor(fault: Fault, advice: string) {
    super(advice);
    this.fault = fault;
    this.advice = advice;
  }
}

export interface Witnesses {
  readonly anchor: AnchorState;
  readonly anchorPath: string;
  /** The largest head in the journal. */
  readonly journal: SignedHead | undefined;
}

/** What appends go on from. */
export interface Recovered {
  readonly tree: GrowingTree;
  readonly leaves: LeafIndex;
}

/**
 * Everything that is checked before the log goes on, after a crash as after a clean stop: the head's signature, the
 * nodes of the right edge and the root they give, the last entries, and what the anchor and the journal remember.
 *
 * @throws Distrust when one of them doesn't hold.
 */
export function recover(storage: LedgerStorage, keys: KeyRing, seen: Witnesses): Recovered {
  try {
    const head = storage.latestHead();
    const size = head?.size ?? 0;
    if (head !== undefined) checkSignature(head, keys);
    // Before the nodes: a database that went back in time is whole in itself.
    checkNotSmaller(size, seen);
    const tree = checkNodes(storage, size, head);
    const nodes = new Nodes(storage);
    checkEntries(storage, nodes, size);
    checkExtends(nodes, size, keys, seen);
    return { tree, leaves: LeafIndex.load(size, (index) => nodes.hashAt({ level: 0, index }, size)) };
  } catch (error) {
    if (error instanceof DamagedError) throw corrupt(error.message);
    throw error;
  }
}

function checkSignature(head: SignedHead, keys: KeyRing): void {
  if (!keys.has(head.keyId)) {
    throw new Distrust(
      'lost',
      `The last tree head was signed by key ${head.keyId}, which is not in the folder keys. ` +
        'Stop the service and put the key files back from a backup.',
    );
  }
  if (!verifyHead(head, keys))
    throw corrupt(`the signature of the last head (size ${head.size}) is not valid`);
}

function checkNodes(storage: LedgerStorage, size: number, head: SignedHead | undefined): GrowingTree {
  const tree = GrowingTree.load(sha256, size, (page) => storage.page(page));
  if (tree === undefined) throw corrupt('the nodes on the right edge of the tree do not fit each other');
  if (head !== undefined && !equalHashes(tree.root(), head.root)) {
    throw corrupt(`the nodes give another root than the signed head of ${size} leaves`);
  }
  return tree;
}

function checkEntries(storage: LedgerStorage, nodes: Nodes, size: number): void {
  for (let index = Math.max(0, size - rehashed); index < size; index++) {
    const canonical = storage.canonical(index);
    if (canonical === undefined) throw corrupt(`entry ${index} of ${size} is missing`);
    if (!equalHashes(leafHash(sha256, canonical), nodes.hashAt({ level: 0, index }, size))) {
      throw corrupt(`entry ${index} does not hash to its leaf`);
    }
  }
  if (storage.canonical(size) !== undefined) throw corrupt(`entry ${size} lies beyond the last head`);
}

function checkNotSmaller(size: number, { anchor, anchorPath, journal }: Witnesses): void {
  if (anchor.kind === 'unreadable') {
    throw new Distrust(
      'corrupt',
      `The anchor ${anchorPath} is not readable, which an interrupted write cannot cause. Compare the log ` +
        `(${size} leaves) with the journal and with what auditors have seen; if they agree, stop the service, move ` +
        'the anchor aside and start again.',
    );
  }
  const remembered = Math.max(anchor.kind === 'head' ? anchor.head.size : 0, journal?.size ?? 0);
  if (size < remembered) throw rollback(`The log has ${size} leaves, but ${remembered} were signed before.`);
}

/** The trees that the anchor and the journal remember must be beginnings of this one. */
function checkExtends(
  nodes: Nodes,
  size: number,
  keys: KeyRing,
  { anchor, anchorPath, journal }: Witnesses,
): void {
  if (anchor.kind === 'head') {
    if (!verifyHead(anchor.head, keys)) {
      throw new Distrust(
        'corrupt',
        `The head in the anchor ${anchorPath} has no valid signature: the file was altered or belongs to another ` +
          'log. Find out which; move it aside only if the journal and the auditors agree with this log.',
      );
    }
    checkBeginning(nodes, size, anchor.head, 'anchor');
  }
  if (journal !== undefined) checkBeginning(nodes, size, journal, 'journal');
}

function checkBeginning(nodes: Nodes, size: number, head: SignedHead, source: string): void {
  if (head.size > 0 && !equalHashes(nodes.rootAt(head.size, size), head.root)) {
    throw rollback(`The ${source} has another root for ${head.size} leaves than this log.`);
  }
}

function rollback(what: string): Distrust {
  return new Distrust(
    'rollback',
    `${what} The database was rolled back or replaced. Stop the service and restore the newest ledger.mdb. If an old ` +
      'backup was restored on purpose, tell the auditors (their pins will fail), then move the anchor and the journal ' +
      'aside and start again.',
  );
}

export function corrupt(what: string): Distrust {
  return new Distrust(
    'corrupt',
    `The log is damaged: ${what}. Stop the service, check the disk, and restore ledger.mdb from a backup that is at ` +
      'least as new as the anchor.',
  );
}

export function lost(found: readonly string[]): Distrust {
  return new Distrust(
    'lost',
    `The data folder has ${found.join(', ')} but no ledger: the log is lost. No new one is begun here. Stop the ` +
      'service and restore ledger.mdb from a backup, or start a new log in an empty data folder.',
  );
}
