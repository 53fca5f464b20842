/** Checks by an outsider, with the auditor's cryptography and without code of src/ledger. */
import { verifyEd25519 } from '../../src/client/ed25519.ts';
import { sha256 } from '../../src/client/sha256.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { encodeHead, headFromJson } from '../../src/tlog/head.ts';
import { hexToBytes } from '../../src/tlog/hex.ts';
import { verifyConsistency, verifyInclusion } from '../../src/tlog/proof.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { rawKey } from './fixture.ts';

const hash = (hex: string) => hexToBytes(hex, 32);

export async function checkHead(ledger: DurableLedger, head: SignedTreeHead): Promise<void> {
  const key = rawKey(await ledger.keys(), head.signer_key_id);
  if (!verifyEd25519(key, encodeHead(headFromJson(head)), hexToBytes(head.signature, 64))) {
    throw new Error(`the head of ${head.tree_size} leaves is not signed`);
  }
}

async function checkInclusion(ledger: DurableLedger, leafIndex: number, head: SignedTreeHead): Promise<void> {
  const { canonical } = await ledger.leaf({ leaf_index: leafIndex });
  const proof = await ledger.inclusion({ leaf_index: leafIndex }, head.tree_size);
  verifyInclusion(sha256, {
    leafIndex,
    treeSize: head.tree_size,
    leafHash: leafHash(sha256, canonical),
    path: proof.audit_path.map(hash),
    root: hash(head.root_hash),
  });
}

export async function checkConsistency(
  ledger: DurableLedger,
  first: SignedTreeHead,
  second: SignedTreeHead,
): Promise<void> {
  if (first.tree_size === second.tree_size && first.root_hash === second.root_hash) return;
  const proof = await ledger.consistency(first.tree_size, second.tree_size);
  verifyConsistency(sha256, {
    firstSize: first.tree_size,
    secondSize: second.tree_size,
    firstRoot: hash(first.root_hash),
    secondRoot: hash(second.root_hash),
    path: proof.audit_path.map(hash),
  });
}

/** Verifies the latest head, every leaf under it, and its consistency with an earlier head. */
export async function checkAll(ledger: DurableLedger, pin?: SignedTreeHead): Promise<SignedTreeHead> {
  const head = await ledger.head();
  await checkHead(ledger, head);
  for (let i = 0; i < head.tree_size; i++) await checkInclusion(ledger, i, head);
  if (pin !== undefined) await checkConsistency(ledger, pin, head);
  return head;
}
