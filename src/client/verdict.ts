/**
 * What an auditor keeps when a log contradicts itself, so that whoever holds the file can convict the log without it.
 *
 * `judge` trusts nothing in it but the keys. What convicts: two roots that were signed for one size; a proof that
 * leads from another beginning to a later signed root; a smaller tree that is signed with a later time. That
 * keys changed, or that an old head came again, is only the auditor's word, and convicts nobody.
 */
import { type Binding, bindsElsewhere } from '../tlog/binding.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { verifyCheckpoint } from './checkpoint.ts';
import { verifyEd25519 } from './ed25519.ts';
import type { Evidence } from './evidence.ts';
import { Fault } from './fault.ts';
import type { KeySet, LogKey } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { type SignedHead, signedBytes } from './tree-head.ts';

export interface Verdict {
  readonly convicts: boolean;
  readonly reason: string;
  /** The keys whose signatures the verdict rests on, or those that verified where it doesn't convict. */
  readonly signers: readonly LogKey[];
}

/** A root that the log signed. */
interface Statement {
  readonly what: string;
  readonly size: number;
  readonly root: Hash;
  /** Checkpoints have none. */
  readonly timestampNs?: bigint;
  readonly key: LogKey;
}

/** The verdict, derived anew. With `trusted`, only these keys count and not those of the file. */
export function judge(evidence: Evidence, trusted?: KeySet): Verdict {
  const read = statements(evidence, trusted);
  const signed = read.filter((one) => !(one instanceof Fault)) as Statement[];
  for (const one of signed) {
    for (const other of signed) {
      const reason = contradiction(one, other, evidence.binding);
      if (reason !== undefined) return { convicts: true, reason, signers: signersOf([one, other]) };
    }
  }
  const refused = read.filter((one) => one instanceof Fault);
  const reason =
    refused.length > 0
      ? refused.map(({ code, message }) => `${code}: ${message}`).join('; ')
      : (unproven[evidence.code] ?? 'what the log signed does not contradict itself');
  return { convicts: false, reason, signers: signersOf(signed) };
}

/** Why what an auditor found doesn't prove itself, where all signatures are good. */
const unproven: Readonly<Record<string, string>> = {
  KEY_WITHDRAWN: "key sets are not signed: that a key was there is the auditor's word",
  KEY_CHANGED: "key sets are not signed: that a key was another one is the auditor's word",
  ROLLBACK: 'an older and smaller head is no contradiction: it may come from a cache or a backup',
  INCONSISTENT: 'no proof leads from another beginning to the later root',
};

function contradiction(one: Statement, other: Statement, binding: Binding | undefined): string | undefined {
  if (one.size > other.size) return undefined;
  if (one.size === other.size) {
    if (equalHashes(one.root, other.root)) return undefined;
    return `two roots are signed for size ${one.size}: ${one.what} and ${other.what}`;
  }
  if (one.timestampNs !== undefined && other.timestampNs !== undefined) {
    const latest = `${one.timestampNs} ns for size ${one.size}, ${other.timestampNs} ns for size ${other.size}`;
    if (one.timestampNs >= other.timestampNs) return `a smaller tree is signed with a later time: ${latest}`;
  }
  if (binding === undefined || !bindsElsewhere(sha256, binding, one, other)) return undefined;
  return (
    `the tree of ${other.what} (size ${other.size}) begins with ${bytesToHex(binding.firstRoot)} for size ` +
    `${one.size}, and ${bytesToHex(one.root)} is signed for it (${one.what})`
  );
}

function statements(evidence: Evidence, trusted: KeySet | undefined): (Statement | Fault)[] {
  const found: (Statement | Fault)[] = [];
  const { pinnedHead, head, checkpoint, checkpoints = [] } = evidence;
  const keys = trusted ?? evidence.keys;
  const pinnedKeys = trusted ?? evidence.pinnedKeys ?? evidence.keys;
  if (pinnedHead !== undefined) found.push(headStatement('the pinned head', pinnedHead, pinnedKeys, keys));
  if (head !== undefined) found.push(headStatement('the head', head, keys, keys));
  if (checkpoint !== undefined) {
    const verified = verifyCheckpoint(checkpoint, keys);
    found.push(verified instanceof Fault ? verified : { what: 'the checkpoint', ...verified });
  }
  for (const [i, note] of checkpoints.entries()) {
    const verified = verifyCheckpoint(note, keys);
    found.push(verified instanceof Fault ? verified : { what: `checkpoint ${i + 1}`, ...verified });
  }
  return found;
}

/**
 * Sizes that a key is said to cover don't count here: the log could narrow them after the fact. But what a revoked
 * key signed may be the work of whoever stole it.
 */
function headStatement(what: string, head: SignedHead, keys: KeySet, later: KeySet): Statement | Fault {
  const { signerKeyId: kid } = head;
  const key = keys.get(kid);
  if (key === undefined) return new Fault('UNKNOWN_KEY', `${what}: no key ${kid} in the key set`);
  if (key.purpose !== 'transparency-sth')
    return new Fault('WRONG_KEY_PURPOSE', `${what}: key ${kid} is for ${key.purpose ?? 'nothing'}`);
  if (key.state === 'revoked' || later.get(kid)?.state === 'revoked')
    return new Fault('KEY_REVOKED', `${what}: key ${kid} was revoked, whoever stole it can have signed this`);
  if (!verifyEd25519(key.publicKey, signedBytes(head), head.signature))
    return new Fault('BAD_SIGNATURE', `${what} is not signed by key ${kid}`);
  return { what, size: head.size, root: head.root, timestampNs: head.timestampNs, key };
}

function signersOf(statements: readonly Statement[]): LogKey[] {
  return [...new Map(statements.map(({ key }) => [key.kid, key])).values()];
}
