import { fetchConsistency } from '../../../client/consistency.ts';
import { members, parseExact } from '../../../client/exact-json.ts';
import { proofFromTiles } from '../../../client/tiles.ts';
import { readTreeHead } from '../../../client/tree-head.ts';
import {
  AuditFault,
  fetchAllKeys,
  type KeySet,
  type LogKey,
  parseTreeHead,
  type SignedHead,
  verifyConsistency,
  verifyHead,
} from '../../../client/verifier.ts';
import { hexToBytes } from '../../../tlog/hex.ts';
import { equalHashes, type Hash } from '../../../tlog/tree.ts';
import { pinHistory } from '../../state/pin.ts';
import { log } from './log.ts';

/** Source of a root: a head that this browser pinned, a head that the log serves now, or the tiles. */
export type RootFrom = 'pinned' | 'signed' | 'tiles';

export interface SizedHead {
  readonly size: number;
  readonly root: Hash;
  readonly from: RootFrom;
  /**
   * The head that signs the root. Absent if no head of this size was signed; a head can cover several new entries
   * together.
   */
  readonly head?: SignedHead;
  readonly key?: LogKey | AuditFault;
  /** A different head that the log serves for a size that this browser pinned. */
  readonly differs?: SignedHead;
}

export interface Comparison {
  readonly first: SizedHead;
  readonly second: SizedHead;
  /** Hashes of the consistency proof, as sent by the log. */
  readonly path: readonly Hash[];
  readonly keys: KeySet;
  /** The fault if the later tree does not extend the earlier one, as verified in this browser. */
  readonly fault: AuditFault | undefined;
}

/** Fetches both heads and the proof between them, and verifies the proof. Requires 0 < first < second. */
export async function compareSizes(firstSize: number, secondSize: number): Promise<Comparison | AuditFault> {
  const keys = await fetchAllKeys(log);
  if (keys instanceof AuditFault) return keys;
  const proof = await fetchConsistency(log, firstSize, secondSize);
  if (proof instanceof AuditFault) return proof;
  const first = await headOfSize(firstSize, secondSize, keys);
  if (first instanceof AuditFault) return first;
  const second = await headOfSize(secondSize, secondSize, keys);
  if (second instanceof AuditFault) return second;
  const { path } = proof;
  return { first, second, path, keys, fault: verifyConsistency(first, second, path) };
}

async function headOfSize(size: number, treeSize: number, keys: KeySet): Promise<SizedHead | AuditFault> {
  const pinned = pinHistory.value.find((one) => one.size === size);
  const shown = await signedHead(size);
  if (shown instanceof AuditFault) return shown;
  if (pinned !== undefined) {
    const head = parseTreeHead(pinned.head);
    if (head instanceof AuditFault) return head;
    const differs = shown !== undefined && !equalHashes(shown.root, head.root);
    const root = hexToBytes(pinned.root, 32);
    const key = verifyHead(head, keys);
    return { size, root, from: 'pinned', head, key, ...(differs && { differs: shown }) };
  }
  if (shown !== undefined) return { size, root: shown.root, from: 'signed', head: shown, key: verifyHead(shown, keys) };
  const tiles = await rootFromTiles(size, treeSize);
  return tiles instanceof AuditFault ? tiles : { size, root: tiles, from: 'tiles' };
}

/** Fetches the newest head of this size; undefined if no such head was signed. */
async function signedHead(size: number): Promise<SignedHead | AuditFault | undefined> {
  const text = await log.get(`/api/transparency/sths?from_size=${size}&to_size=${size + 1}&per_page=1000`);
  if (text instanceof AuditFault) return text;
  const list = members(parseExact(text))?.data;
  if (!Array.isArray(list)) return new AuditFault('MALFORMED_HEAD', 'the response is not a list of heads');
  if (list.length === 0) return undefined;
  const head = readTreeHead(members(list.at(-1))?.attributes);
  if (head instanceof AuditFault || head.size === size) return head;
  return new AuditFault('MALFORMED_HEAD', `requested the head of size ${size}, received size ${head.size}`);
}

async function rootFromTiles(size: number, treeSize: number): Promise<Hash | AuditFault> {
  const computed = await proofFromTiles(log, size, treeSize);
  return computed instanceof AuditFault ? computed : computed.firstRoot;
}
