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
import { Fault } from './fault.ts';
import { checkpointSigners, type KeySet, type LogKey } from './key-set.ts';
import { sha256 } from './sha256.ts';

/** Whose signatures a checkpoint must have. */
export interface CheckpointPolicy {
  /** The log's own key, known from elsewhere; otherwise the checkpoint keys of its key set count. */
  readonly logKey?: VerifierKey;
  readonly witnesses?: readonly VerifierKey[];
  /** How many of the witnesses must have cosigned. Default: all of them. */
  readonly quorum?: number;
  /** Cosignatures from before don't count, seconds since 1970: who shows an old checkpoint can hide what came after. */
  readonly cosignedSinceS?: number;
}

/** A checkpoint (C2SP tlog-checkpoint) that verified. */
export interface SignedCheckpoint {
  /** The whole note. */
  readonly note: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
  readonly key: LogKey;
  /** The trusted witnesses that cosigned, and when by their clocks (seconds since 1970). */
  readonly cosigners: readonly { readonly name: string; readonly timeS: number }[];
}

/**
 * Whether the note is a checkpoint that the log signed: by the key that `policy` names, else by a checkpoint key of
 * the key set under its own origin. Signatures of unknown keys are passed over; a wrong one of a known key refuses it.
 */
export function verifyCheckpoint(
  note: string,
  keys: KeySet,
  policy: CheckpointPolicy = {},
): SignedCheckpoint | Fault {
  const read = readCheckpoint(note);
  if (read instanceof Fault) return read;
  const { parsed, origin, size, root } = read;
  if (policy.logKey !== undefined && policy.logKey.name !== origin)
    return new Fault('WRONG_ORIGIN', `the checkpoint is of ${shown(origin)}, not of ${policy.logKey.name}`);
  const known = policy.logKey === undefined ? checkpointSigners(keys, origin) : [asLogKey(policy.logKey)];
  const key = signerOf(parsed, origin, known);
  if (key instanceof Fault) return key;
  const cosigners = cosignersOf(parsed, policy);
  return cosigners instanceof Fault ? cosigners : { note, origin, size, root, key, cosigners };
}

/** A verifier key of C2SP signed-note (`name+id+base64`) that can be used. */
export function parseCheckpointKey(text: string): VerifierKey | Fault {
  try {
    const key = parseVerifierKey(sha256, text);
    if (isEd25519Key(key.publicKey)) return key;
    return new Fault('WEAK_KEY', `the key of ${key.name} is no acceptable Ed25519 key`);
  } catch (error) {
    if (error instanceof TlogError) return new Fault('MALFORMED_KEYS', `no verifier key: ${error.message}`);
    throw error;
  }
}

/** A log's key that came from elsewhere, beside those of a key set. */
export function asLogKey(key: VerifierKey, life?: string): LogKey {
  const x = toBase64(key.publicKey).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const kid = `${key.name}+${key.keyId.toString(16).padStart(8, '0')}`;
  const named = { origin: key.name, ...(life !== undefined && { life }) };
  const about = { purpose: 'checkpoint', state: 'active', ...named };
  return { kid, x, publicKey: key.publicKey, ...about, fromSize: undefined, toSize: undefined };
}

/** Reads a checkpoint. Nothing of it is verified. */
export function readCheckpoint(
  note: string,
): { parsed: Note; origin: string; size: number; root: Hash } | Fault {
  try {
    const parsed = parseNote(note);
    const { origin, size, root } = parseCheckpoint(parsed.text);
    // A tree without entries has one root, and nothing to audit.
    if (size === 0) return new Fault('MALFORMED_CHECKPOINT', 'the checkpoint is of size 0');
    return { parsed, origin, size, root };
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    return new Fault('MALFORMED_CHECKPOINT', `no checkpoint: ${error.message}`);
  }
}

/** Whether another key than the log's can have signed the note. */
export function isCosigned(note: string): boolean {
  const read = readCheckpoint(note);
  return !(read instanceof Fault) && read.parsed.signatures.length > 1;
}

function signerOf(note: Note, origin: string, keys: readonly LogKey[]): LogKey | Fault {
  for (const key of keys) {
    const by = signatureBy(note, origin, signatureTypes.ed25519, key.publicKey, 'UNSIGNED_CHECKPOINT');
    if (by instanceof Fault) return by;
    if (by !== undefined) return key;
  }
  return new Fault(
    'UNSIGNED_CHECKPOINT',
    `no known checkpoint key of ${shown(origin)} signed the checkpoint`,
  );
}

function cosignersOf(note: Note, policy: CheckpointPolicy): { name: string; timeS: number }[] | Fault {
  // One key counts once, whatever it is called: a cosignature doesn't name its cosigner.
  const distinct = new Map(policy.witnesses?.map((key) => [key.publicKey.join(), key]));
  const witnesses = [...distinct.values()];
  const { quorum = witnesses.length, cosignedSinceS = 0 } = policy;
  const cosigners: { name: string; timeS: number }[] = [];
  for (const { name, type, publicKey } of witnesses) {
    const by = signatureBy(note, name, type, publicKey, 'BAD_COSIGNATURE');
    if (by instanceof Fault) return by;
    if (by === undefined || type !== signatureTypes.cosignature) continue;
    const { timeS } = decodeCosignature(by);
    if (timeS >= cosignedSinceS) cosigners.push({ name, timeS });
  }
  if (cosigners.length >= quorum) return cosigners;
  const names = cosigners.map(({ name }) => name).join(', ') || 'none';
  const since = cosignedSinceS === 0 ? '' : ` since ${cosignedSinceS} (seconds since 1970)`;
  return new Fault('QUORUM_MISSED', `cosigned by ${cosigners.length} (${names})${since}, wanted ${quorum}`);
}

/** The bytes behind the key id. */
function signatureBy(
  note: Note,
  name: string,
  type: number,
  publicKey: Uint8Array,
  code: 'UNSIGNED_CHECKPOINT' | 'BAD_COSIGNATURE',
): Uint8Array | Fault | undefined {
  try {
    return noteSignatureBy(note, verifierKey(sha256, name, type, publicKey), verifyEd25519)?.signature;
  } catch (error) {
    if (error instanceof TlogError) return new Fault(code, error.message);
    throw error;
  }
}

/** An origin comes from the log: long ones are cut. */
function shown(origin: string): string {
  return origin.length <= 200 ? origin : `${origin.slice(0, 200)}…`;
}
