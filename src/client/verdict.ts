/**
 * The verdict on an auditor's evidence, which any reader of the file can compute offline.
 *
 * Evidence is conclusive (`convicts`) if two statements contradict each other: two roots for one size; a proof that
 * derives the later root from a different earlier tree; a smaller tree with a later time. Both statements must be
 * signed by keys that the reader trusts, within the periods of these keys. If the reader names no keys, the keys that
 * the auditor had pinned, and keys that rotations connect to them, are trusted. Statements of two lives of a log do not
 * contradict each other.
 *
 * An attacker who stole a key that has ended can backdate a statement. So if a signing key has ended, a statement is
 * accepted only if it was seen before the end. Accepted proofs are the auditor's pin, the time at which the
 * contradiction was found, and witnesses or a timestamping authority that the reader trusts.
 */
import { type Binding, bindsElsewhere } from '../tlog/binding.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { verifyCheckpoint } from './checkpoint.ts';
import { type DatedRoot, earliestProof } from './corroboration.ts';
import { describeEntries } from './entry-evidence.ts';
import type { Evidence } from './evidence.ts';
import { AuditFault } from './fault.ts';
import { followLinks } from './key-chain.ts';
import { clockToleranceMs, endOf, type KeySet, type LogKey } from './key-set.ts';
import { sha256 } from './sha256.ts';
import type { SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

export interface Verdict {
  readonly convicts: boolean;
  readonly reason: string;
  /** The keys that signed the conflicting statements, or all verified signers if the evidence is not conclusive. */
  readonly signers: readonly LogKey[];
  /** Sentences about who attests that the statements were made while their keys were in use. */
  readonly basis: readonly string[];
}

/** A root that the log signed. */
interface Statement {
  readonly what: string;
  readonly size: number;
  readonly root: Hash;
  /** Timestamp of a head; absent for checkpoints. */
  readonly timestampNs?: bigint;
  readonly key: LogKey;
  /** Time at which an auditor saw the statement, ISO 8601, by the auditor's clock. */
  readonly seenAt: string;
}

/**
 * Computes the verdict. `trusted` replaces the keys in the file. `dated` are trees with times that the reader
 * trusts (see corroboration.ts).
 */
export function judge(evidence: Evidence, trusted?: KeySet, dated: readonly DatedRoot[] = []): Verdict {
  const read = statements(evidence, trusted, dated);
  const signed = read.filter((one) => !(one instanceof AuditFault)) as Statement[];
  let open: string | undefined;
  for (const one of signed) {
    for (const other of signed) {
      const reason = contradiction(one, other, evidence.binding);
      if (reason === undefined) continue;
      const both = [one, other];
      if (one.key.life !== other.key.life) {
        open ??= `${reason}; but their keys belong to two lives of the log, or cannot be shown to belong to one`;
        continue;
      }
      const late = both.find((statement) => !madeInTime(statement, dated));
      if (late === undefined) {
        const sentences = both.flatMap((statement) => basisOf(statement, dated, trusted !== undefined));
        return { convicts: true, reason, signers: signersOf(both), basis: [...new Set(sentences)] };
      }
      open ??= `${reason}; but ${uncorroborated(late)}`;
    }
  }
  const refused = read.filter((one) => one instanceof AuditFault);
  const reason =
    open ??
    (refused.length > 0
      ? refused.map(({ code, message }) => `${code}: ${message}`).join('; ')
      : (describeEntries(evidence, inUse(trustedKeys(evidence, trusted, dated))) ??
        unproven[evidence.code] ??
        'the signed statements do not contradict each other'));
  return { convicts: false, reason, signers: signersOf(signed), basis: [] };
}

const unsignedTree =
  'the root of the head is signed, but tiles and positions of entries are not, so a proxy or a disk error may have ' +
  'changed them. Compare both roots with those of other auditors';

/** Reasons why a finding is not conclusive although all signatures are valid. */
const unproven: Readonly<Record<string, string>> = {
  PROOF_WITHHELD: 'no proof derives the later root from a different earlier tree',
  WRONG_ROOT: unsignedTree,
  NOT_INCLUDED: unsignedTree,
};

/**
 * Returns the earliest proof that the statement existed. Returns undefined without a proof from before the end of the
 * statement's key, and if the time of that end is unknown.
 */
function proofInTime(
  statement: Pick<Statement, 'size' | 'root' | 'key'>,
  dated: readonly DatedRoot[],
): DatedRoot | undefined {
  const proof = earliestProof(statement, dated);
  const end = knownEnd(statement.key);
  return proof !== undefined && proof.atMs <= end + clockToleranceMs ? proof : undefined;
}

/**
 * Returns when the key ended; Infinity while the key is in use. Returns −Infinity if the time of the end is unknown,
 * because the key may have ended before all its statements.
 */
function knownEnd(key: LogKey): number {
  return endOf(key) ?? (key.state === 'active' ? Infinity : -Infinity);
}

function madeInTime(statement: Statement, dated: readonly DatedRoot[]): boolean {
  const end = knownEnd(statement.key);
  const seenInTime = end === Infinity || Date.parse(statement.seenAt) <= end + clockToleranceMs;
  return seenInTime || proofInTime(statement, dated) !== undefined;
}

const proofHint =
  'A checkpoint cosigned by witnesses, or a timestamp of an authority, from before the key ended would prove the time of ' +
  'the statement';

function uncorroborated({ what, key }: Statement): string {
  return (
    `${what} was first seen after its key ${key.kid} had ended (${isoEndOf(key)}): an attacker with the ended key may have ` +
    `backdated the statement. ${proofHint}`
  );
}

/** States who attests that the statement was made before its key ended. */
function basisOf(statement: Statement, dated: readonly DatedRoot[], isKeySetGiven: boolean): string[] {
  const { what, key, seenAt } = statement;
  const proof = proofInTime(statement, dated);
  const ended = knownEnd(key) === Infinity ? '' : `, and its key ${key.kid} ended at ${isoEndOf(key)}`;
  if (proof !== undefined)
    return [`The tree of ${what} was ${proof.by} at ${new Date(proof.atMs).toISOString()}${ended}.`];
  if (ended !== '')
    return [
      `Only the auditor who wrote the file attests that ${what} was seen at ${seenAt}${ended}. ${proofHint} ` +
        'to others (--witness, --tsa-ca).',
    ];
  return isKeySetGiven
    ? []
    : [
        `If key ${key.kid} has ended since, an attacker with the key may have backdated a statement, and the verdict needs proof ` +
          'from before its end: verify the file with the current keys of the log (--keys) and with --witness or --tsa-ca.',
      ];
}

function isoEndOf(key: LogKey): string {
  const end = endOf(key);
  return end === undefined ? 'at an unknown time' : new Date(end).toISOString();
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
    `the tree of ${other.what} (size ${other.size}) has the root ${bytesToHex(binding.firstRoot)} at size ` +
    `${one.size}, but ${bytesToHex(one.root)} is signed for it (${one.what})`
  );
}

/**
 * Returns the keys whose statements are accepted: `trusted`, or if not given, the keys pinned by the auditor and those
 * that links connect to them. A link by a key that has ended is accepted only if `dated` proves that the link was made
 * before that end.
 */
export function trustedKeys(
  { pinnedKeys = new Map(), links = [], keys }: Evidence,
  trusted: KeySet | undefined,
  dated: readonly DatedRoot[] = [],
): KeySet {
  if (trusted !== undefined) return trusted;
  return followLinks(
    links,
    pinnedKeys,
    keys,
    ({ size, root }, key) => proofInTime({ size, root, key }, dated) !== undefined,
  );
}

function statements(
  evidence: Evidence,
  trusted: KeySet | undefined,
  dated: readonly DatedRoot[],
): (Statement | AuditFault)[] {
  const found: (Statement | AuditFault)[] = [];
  const {
    pinnedHead,
    head,
    checkpoint,
    foundAt,
    pinnedAt = foundAt,
    headSeenAt = foundAt,
    checkpoints = [],
  } = evidence;
  const keys = trustedKeys(evidence, trusted, dated);
  if (pinnedHead !== undefined) found.push(headStatement('the pinned head', pinnedHead, keys, pinnedAt));
  if (head !== undefined) found.push(headStatement('the head', head, keys, headSeenAt));
  const notes: [string, string][] = checkpoints.map((note, i) => [`checkpoint ${i + 1}`, note]);
  if (checkpoint !== undefined) notes.push(['the checkpoint', checkpoint]);
  for (const [what, note] of notes) {
    const verified = verifyCheckpoint(note, inUse(keys));
    const statement = { what, seenAt: foundAt };
    found.push(
      verified instanceof AuditFault ? verified : { ...statement, ...verified, key: keys.get(verified.key.kid)! },
    );
  }
  return found;
}

/**
 * Treats revoked keys as retired, because statements signed before the revocation remain evidence. Callers must check
 * when each statement was signed.
 */
export function inUse(keys: KeySet): KeySet {
  return new Map([...keys].map(([kid, key]) => [kid, key.state === 'revoked' ? { ...key, state: 'retired' } : key]));
}

function headStatement(what: string, head: SignedHead, keys: KeySet, seenAt: string): Statement | AuditFault {
  const key = verifyHead(head, inUse(keys));
  if (key instanceof AuditFault) return new AuditFault(key.code, `${what}: ${key.message}`);
  const { size, root, timestampNs } = head;
  return { what, size, root, timestampNs, seenAt, key: keys.get(key.kid)! };
}

function signersOf(statements: readonly Statement[]): LogKey[] {
  return [...new Map(statements.map(({ key }) => [key.kid, key])).values()];
}
