/**
 * The verdict on evidence that an auditor kept, which any reader of the file derives again without the log.
 *
 * Evidence convicts when two statements contradict each other: two roots for one size; a proof that leads from another
 * beginning to a later root; a smaller tree with a later time. Both must be signed, within their periods, by keys that
 * the reader trusts, or else by keys that the file's auditor had pinned, or that links of rotations vouch for.
 *
 * A thief of a key that has ended can date a statement back into its period. So once a signer has ended, a statement
 * counts only if it was seen before: by the auditor's pin, or by finding the contradiction at that time.
 */
import { type Binding, bindsElsewhere } from '../tlog/binding.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { verifyCheckpoint } from './checkpoint.ts';
import type { Evidence } from './evidence.ts';
import { Fault } from './fault.ts';
import { followLinks } from './key-chain.ts';
import { clockToleranceMs, endOf, type KeySet, type LogKey } from './key-set.ts';
import { sha256 } from './sha256.ts';
import type { SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

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
  /** ISO 8601, by the clock of an auditor. */
  readonly seenAt: string;
}

/** Derives the verdict. With `trusted`, only these keys count and not those of the file. */
export function judge(evidence: Evidence, trusted?: KeySet): Verdict {
  const read = statements(evidence, trusted);
  const signed = read.filter((one) => !(one instanceof Fault)) as Statement[];
  let open: string | undefined;
  for (const one of signed) {
    for (const other of signed) {
      const reason = contradiction(one, other, evidence.binding);
      if (reason === undefined) continue;
      const late = [one, other].find(seenAfterEnd);
      if (late === undefined) return { convicts: true, reason, signers: signersOf([one, other]) };
      open ??= `${reason}; but ${uncorroborated(late)}`;
    }
  }
  const refused = read.filter((one) => one instanceof Fault);
  const reason =
    open ??
    (refused.length > 0
      ? refused.map(({ code, message }) => `${code}: ${message}`).join('; ')
      : (unproven[evidence.code] ?? 'the signed statements do not contradict each other'));
  return { convicts: false, reason, signers: signersOf(signed) };
}

/** Reasons why a finding does not prove itself although all signatures are good. */
const unproven: Readonly<Record<string, string>> = {
  PROOF_WITHHELD: 'no proof leads from another beginning to the later root',
};

function seenAfterEnd({ key, seenAt }: Statement): boolean {
  const end = endOf(key);
  return end !== undefined && !(Date.parse(seenAt) <= end + clockToleranceMs);
}

function uncorroborated({ what, key }: Statement): string {
  const end = new Date(endOf(key)!).toISOString();
  return (
    `${what} was first seen after its key ${key.kid} had ended (${end}): a thief of the ended key can have dated it ` +
    'back. A checkpoint that witnesses cosigned, or a timestamp of an authority, from before that time settles it'
  );
}

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
  const {
    pinnedHead,
    head,
    checkpoint,
    links = [],
    foundAt,
    pinnedAt = foundAt,
    headSeenAt = foundAt,
    checkpoints = [],
  } = evidence;
  const roots = trusted ?? evidence.pinnedKeys ?? new Map();
  const keys = followLinks(links, roots, evidence.keys);
  if (pinnedHead !== undefined) found.push(headStatement('the pinned head', pinnedHead, keys, pinnedAt));
  if (head !== undefined) found.push(headStatement('the head', head, keys, headSeenAt));
  const notes: [string, string][] = checkpoints.map((note, i) => [`checkpoint ${i + 1}`, note]);
  if (checkpoint !== undefined) notes.push(['the checkpoint', checkpoint]);
  for (const [what, note] of notes) {
    const verified = verifyCheckpoint(note, inUse(keys));
    const statement = { what, seenAt: foundAt };
    found.push(
      verified instanceof Fault ? verified : { ...statement, ...verified, key: keys.get(verified.key.kid)! },
    );
  }
  return found;
}

/** A statement of a key that was revoked later counts as one of its period. */
function inUse(keys: KeySet): KeySet {
  return new Map(
    [...keys].map(([kid, key]) => [kid, key.state === 'revoked' ? { ...key, state: 'retired' } : key]),
  );
}

function headStatement(what: string, head: SignedHead, keys: KeySet, seenAt: string): Statement | Fault {
  const key = verifyHead(head, inUse(keys));
  if (key instanceof Fault) return new Fault(key.code, `${what}: ${key.message}`);
  const { size, root, timestampNs } = head;
  return { what, size, root, timestampNs, seenAt, key: keys.get(key.kid)! };
}

function signersOf(statements: readonly Statement[]): LogKey[] {
  return [...new Map(statements.map(({ key }) => [key.kid, key])).values()];
}
