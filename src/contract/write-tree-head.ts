import type { SignedTreeHead } from './resources/transparency.ts';

/** The head as JSON text, its integers in exact digits for readers that have 64-bit integers. */
export function writeTreeHead(head: SignedTreeHead): string {
  const { tree_size, root_hash, timestamp_ns, signature, signer_key_id } = head;
  const texts = JSON.stringify({ signature, signer_key_id });
  return `{"tree_size":${tree_size},"root_hash":"${root_hash}","timestamp_ns":${BigInt(timestamp_ns)},${texts.slice(1)}`;
}
