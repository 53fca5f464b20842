import type { SignedTreeHead } from './resources/transparency.ts';

/** Serialises the head as JSON with exact integers, for readers with 64-bit integers. */
export function writeTreeHead(head: SignedTreeHead): string {
  const { tree_size, root_hash, timestamp_ns, signature, signer_key_id } = head;
  const texts = JSON.stringify({ signature, signer_key_id });
  return `{"tree_size":${tree_size},"root_hash":"${root_hash}","timestamp_ns":${BigInt(timestamp_ns)},${texts.slice(1)}`;
}
