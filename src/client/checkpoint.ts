import { toBase64 } from '../tlog/base64.ts';
import { parseCheckpoint } from '../tlog/checkpoint.ts';
import { decodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import {
  type Note,
  noteSignatureBy,
  parseNote,
  parseVerifierKey,
  signatureTypes,
  type VerifierKey,
  verifierKey,
} from '../tlog/note.ts';
import type { Hash } from '../tlog/tree.ts';
import { isEd25519Key, verifyEd25519 } from './ed25519.ts';
import { AuditFault, orFault } from './fault.ts';
import { checkpointSigners, type KeySet, type LogKey } from './key-set.ts';
import { sha256 } from './sha256.ts';

/** Required signatures of a checkpoint. */
export interface CheckpointPolicy {
  /** The log's key from a trusted source. Default: the checkpoint keys in the log's key set. */
  readonly logKey?: VerifierKey;
  readonly witnesses?: readonly VerifierKey[];
  /** Number of witnesses that must have cosigned. Default: all. */
  readonly quorum?: number;
  /**
   * Cosignatures from before this time (seconds since 1970) are ignored, because an old checkpoint could hide later
   * entries.
   */
  readonly cosignedSinceS?: number;
}

/** A verified checkpoint (C2SP tlog-checkpoint). */
export interface SignedCheckpoint {
  /** The complete note. */
  readonly note: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
  readonly key: LogKey;
  /** The trusted witnesses that cosigned, with the time by their clocks in seconds since 1970. */
  readonly cosigners: readonly { readonly name: string; readonly timeS: number }[];
}

/**
 * Verifies that the note is a checkpoint signed by the log and by the required number of witnesses. The log's key is
 * the one in `policy` or, if not given, a checkpoint key of the key set for the origin. Signatures by unknown keys are
 * ignored; an invalid signature by a known key is a fault.
 */
export function verifyCheckpoint(
  note: string,
  keys: KeySet,
  policy: CheckpointPolicy = {},
): SignedCheckpoint | AuditFault {
  const read = readCheckpoint(note);
  if (read instanceof AuditFault) return read;
  const { parsed, origin, size, root } = read;
  if (policy.logKey !== undefined && policy.logKey.name !== origin)
    return new AuditFault('WRONG_ORIGIN', `the origin is ${truncated(origin)}, not ${policy.logKey.name}`);
  const known = policy.logKey === undefined ? checkpointSigners(keys, origin) : [asLogKey(policy.logKey)];
  const key = signerOf(parsed, origin, known);
  if (key instanceof AuditFault) return key;
  const cosigners = cosignersOf(parsed, policy);
  return cosigners instanceof AuditFault ? cosigners : { note, origin, size, root, key, cosigners };
}

/** Parses a verifier key of C2SP signed-note (`name+id+base64`) and checks that it is a valid Ed25519 key. */
export function parseCheckpointKey(text: string): VerifierKey | AuditFault {
  const key = orFault('MALFORMED_KEYS', 'not a valid verifier key', () => parseVerifierKey(sha256, text));
  if (key instanceof AuditFault || isEd25519Key(key.publicKey)) return key;
  return new AuditFault('WEAK_KEY', `the key of ${key.name} is not a valid Ed25519 key`);
}

/** Converts a verifier key to an active checkpoint key of a key set. */
export function asLogKey(key: VerifierKey, life?: string): LogKey {
  const x = toBase64(key.publicKey).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const kid = `${key.name}+${key.keyId.toString(16).padStart(8, '0')}`;
  const named = { origin: key.name, ...(life !== undefined && { life }) };
  const about = { purpose: 'checkpoint', state: 'active', ...named };
  return { kid, x, publicKey: key.publicKey, ...about, fromSize: undefined, toSize: undefined };
}

/** Parses a checkpoint without verifying it. */
export function readCheckpoint(note: string): { parsed: Note; origin: string; size: number; root: Hash } | AuditFault {
  return orFault('MALFORMED_CHECKPOINT', 'not a valid checkpoint', () => {
    const parsed = parseNote(note);
    const { origin, size, root } = parseCheckpoint(parsed.text);
    // An empty tree has a fixed root, so there is nothing to audit.
    if (size === 0) return new AuditFault('MALFORMED_CHECKPOINT', 'the checkpoint has size 0');
    return { parsed, origin, size, root };
  });
}

/** Returns whether the note is a checkpoint with more than one signature. */
export function isCosigned(note: string): boolean {
  const read = readCheckpoint(note);
  return !(read instanceof AuditFault) && read.parsed.signatures.length > 1;
}

function signerOf(note: Note, origin: string, keys: readonly LogKey[]): LogKey | AuditFault {
  for (const key of keys) {
    const by = signatureBy(note, origin, signatureTypes.ed25519, key.publicKey, 'UNSIGNED_CHECKPOINT');
    if (by instanceof AuditFault) return by;
    if (by !== undefined) return key;
  }
  return new AuditFault('UNSIGNED_CHECKPOINT', `no known checkpoint key of ${truncated(origin)} signed the checkpoint`);
}

function cosignersOf(note: Note, policy: CheckpointPolicy): { name: string; timeS: number }[] | AuditFault {
  // A key counts only once, even under several names: a cosignature does not contain the name of its cosigner.
  const distinct = new Map(policy.witnesses?.map((key) => [key.publicKey.join(), key]));
  const witnesses = [...distinct.values()];
  const { quorum = witnesses.length, cosignedSinceS = 0 } = policy;
  const cosigners: { name: string; timeS: number }[] = [];
  for (const { name, type, publicKey } of witnesses) {
    const by = signatureBy(note, name, type, publicKey, 'BAD_COSIGNATURE');
    if (by instanceof AuditFault) return by;
    if (by === undefined || type !== signatureTypes.cosignature) continue;
    const { timeS } = decodeCosignature(by);
    if (timeS >= cosignedSinceS) cosigners.push({ name, timeS });
  }
  if (cosigners.length >= quorum) return cosigners;
  const names = cosigners.map(({ name }) => name).join(', ') || 'none';
  const since = cosignedSinceS === 0 ? '' : ` since ${cosignedSinceS} (seconds since 1970)`;
  return new AuditFault('QUORUM_MISSED', `cosigned by ${cosigners.length} (${names})${since}, need ${quorum}`);
}

/** Returns the signature bytes after the key id; undefined if the key did not sign the note. */
function signatureBy(
  note: Note,
  name: string,
  type: number,
  publicKey: Uint8Array,
  code: 'UNSIGNED_CHECKPOINT' | 'BAD_COSIGNATURE',
): Uint8Array | AuditFault | undefined {
  try {
    return noteSignatureBy(note, verifierKey(sha256, name, type, publicKey), verifyEd25519)?.signature;
  } catch (error) {
    if (error instanceof TlogError) return new AuditFault(code, error.message);
    throw error;
  }
}

/** Truncates an origin for messages, because the log chooses it. */
function truncated(origin: string): string {
  return origin.length <= 200 ? origin : `${origin.slice(0, 200)}…`;
}
