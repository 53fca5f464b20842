/**
 * Checks the whole log without trusting it: its results as JSON, the client's verifier, and a root computed
 * from all leaves by a literal implementation of RFC 6962. Does not use code of src/ledger.
 */
import { createHash } from 'node:crypto';
import { AuditFault } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { parseTreeHead, type SignedHead } from '../../src/client/tree-head.ts';
import { verifyConsistency, verifyEntry, verifyHead, verifyInclusion } from '../../src/client/verify.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import type { Appended, Ledger } from '../../src/ledger/ledger.ts';
import { Oracle } from '../tlog/oracle.ts';

export type Asked = Pick<Ledger, 'head' | 'keys' | 'leaf' | 'inclusion' | 'consistency'>;

/** An outsider's observations of a log. They must stay true permanently. */
export interface Kept {
  /** Heads in the order in which they were seen. */
  readonly pins?: readonly SignedTreeHead[];
  /** Results of appends. */
  readonly answers?: readonly Appended[];
}

/** Throws if the log is inconsistent. Returns its head and the ids of all entries, by index. */
export async function reverify(
  log: Asked,
  { pins = [], answers = [] }: Kept = {},
): Promise<{ head: SignedTreeHead; ids: string[] }> {
  const keys = sound(parseKeySet(JSON.stringify({ keys: await log.keys() })));
  const latest = await log.head();
  const head = headOf(latest);
  const leaves: Uint8Array[] = [];
  const ids: string[] = [];
  for (let leafIndex = 0; leafIndex < head.size; leafIndex++) {
    const { canonical } = await log.leaf({ leaf_index: leafIndex });
    const { audit_path } = await log.inclusion({ leaf_index: leafIndex }, head.size);
    sound(verifyInclusion({ leafIndex, canonical }, audit_path.map(hash), head));
    leaves.push(canonical);
    ids.push(sound(verifyEntry({ leafIndex, canonical }, keys)).entry.id);
  }
  if (new Set(ids).size !== ids.length) throw new Error('an entry is in the log more than once');

  const oracle = new Oracle(leaves);
  const seen = [...pins.map(headOf), head];
  for (const [n, one] of seen.entries()) {
    sound(verifyHead(one, keys));
    if (one.size > head.size) throw new Error(`${one.size} leaves were signed, but there are ${head.size}`);
    if (!equal(one.root, oracle.root(0, one.size))) throw new Error(`the root of ${one.size} leaves differs`);
    const before = seen[n - 1];
    if (before === undefined || same(before, one)) continue;
    if (one.timestampNs <= before.timestampNs || one.size < before.size)
      throw new Error(`the head of ${one.size} leaves is not later than the previous one of ${before.size}`);
    if (before.size === one.size) continue;
    const { audit_path } = await log.consistency(before.size, one.size);
    const fault = verifyConsistency(before, one, audit_path.map(hash));
    if (fault !== undefined) throw new Error(fault.message);
  }

  for (const { id, leaf_index, leaf_hash, tree_size } of answers) {
    const leaf = leaves[leaf_index];
    const answered = `${id} was answered with index ${leaf_index}`;
    if (leaf === undefined || ids[leaf_index] !== id) throw new Error(`${answered}, but is not there`);
    if (sha256(Buffer.concat([Uint8Array.of(0), leaf])) !== leaf_hash)
      throw new Error(`${answered}, but is another entry`);
    if (tree_size > head.size) throw new Error(`${answered} of ${tree_size}, but there are ${head.size}`);
  }
  return { head: latest, ids };
}

const headOf = (head: SignedTreeHead): SignedHead => sound(parseTreeHead(writeTreeHead(head)));
const hash = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const equal = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
const same = (a: SignedHead, b: SignedHead) => a.timestampNs === b.timestampNs && equal(a.root, b.root);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function sound<T>(value: T | AuditFault): T {
  if (value instanceof AuditFault) throw new Error(`${value.code}: ${value.message}`);
  return value;
}
