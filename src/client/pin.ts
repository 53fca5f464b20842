import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, foldRoot, type Hash, rootPlan } from '../tlog/tree.ts';
import { readCheckpoint } from './checkpoint.ts';
import { verifyEd25519 } from './ed25519.ts';
import { type Exact, members, parseExact, string } from './exact-json.ts';
import { AuditFault, catchFault, unwrap } from './fault.ts';
import { fingerprint, type KeySet, type LogKey, readKeySet, writeKeys } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { readTreeHead, type SignedHead, signedBytes, writeTreeHead } from './tree-head.ts';
import { readPath } from './verify.ts';

/** The latest head of a log that an auditor accepted, and its trusted keys. */
export interface Pin {
  /** URL of the log, as first given. */
  readonly log: string;
  readonly head: SignedHead;
  /**
   * Tree-head keys: the signer of the first pinned head, keys reached by rotations, and keys accepted by the operator.
   * Also the checkpoint key, once a checkpoint was seen. The periods of these keys come from log entries.
   */
  readonly keys: KeySet;
  /** The range of entries that were fetched and checked; undefined if no entries were checked. */
  readonly entries?: CheckedEntries;
  /** The first cosigned checkpoint seen for the head's tree: it proves when that tree existed. */
  readonly checkpoint?: string;
  /** The largest checkpoint seen, if its tree is larger than the head's. */
  readonly checkpointAhead?: string;
  /** Time at which the first head was pinned, ISO 8601. */
  readonly pinnedAt: string;
  /** Time at which the current head was pinned, ISO 8601. */
  readonly updatedAt: string;
}

/**
 * The verified entries of a signed head. Only the right edge of their tree is stored, from which the next check
 * continues.
 */
export interface CheckedEntries {
  readonly head: SignedHead;
  /** The hashes of `rootPlan(head.size)`, which result in the root of the head. */
  readonly edge: readonly Hash[];
}

const version = 5n;
/** Version in which the keys came from the unsigned key set. */
const versionOfUnsignedKeys = 2n;
/** Version 4 lacks the larger checkpoint, version 3 lacks checkpoints. */
const versions: readonly (Exact | undefined)[] = [version, 4n, 3n, versionOfUnsignedKeys];

export function writePin(pin: Pin): string {
  const { log, pinnedAt, updatedAt, entries, checkpoint, checkpointAhead: checkpoint_ahead } = pin;
  const times = { pinned_at: pinnedAt, updated_at: updatedAt };
  const about = JSON.stringify({ log, ...times, checkpoint, checkpoint_ahead });
  const edge = JSON.stringify(entries?.edge.map(bytesToHex));
  const checked = entries === undefined ? '' : `,"entries":{"head":${writeTreeHead(entries.head)},"edge":${edge}}`;
  const keys = writeKeys(pin.keys.values());
  return `{"version":${version},${about.slice(1, -1)},"head":${writeTreeHead(pin.head)}${checked},"keys":${keys}}\n`;
}

/**
 * Parses a pin. Checks that the pin's heads are signed by the pin's keys, and that the edge results in the root of its
 * head. An altered file therefore can't be used to accuse the log. A later revocation of a key does not invalidate the
 * pin, because the signature was valid when pinned.
 */
export function parsePin(text: string): Pin | AuditFault {
  return catchFault(() => readPin(text));
}

function readPin(text: string): Pin {
  const fields = members(parseExact(text));
  if (fields === undefined || !versions.includes(fields.version)) throw malformed(`it has no "version": ${version}`);
  const log = string(fields.log);
  const pinnedAt = string(fields.pinned_at);
  const updatedAt = string(fields.updated_at);
  if (log === undefined || pinnedAt === undefined || updatedAt === undefined)
    throw malformed('log or a time is missing');
  const written = unwrap(readKeySet(fields.keys), malformed);
  const head = readOwnHead(fields.head, written);
  const keys = fields.version === versionOfUnsignedKeys ? migratedKeys(head, written) : written;
  const checkpoint = string(fields.checkpoint);
  if (fields.checkpoint !== undefined && checkpoint === undefined) throw malformed('checkpoint is not text');
  const checkpointAhead = string(fields.checkpoint_ahead);
  if (fields.checkpoint_ahead !== undefined && readCheckpoint(checkpointAhead ?? '') instanceof AuditFault)
    throw malformed('checkpoint_ahead is not a checkpoint');
  const notes = {
    ...(checkpoint !== undefined && { checkpoint }),
    ...(checkpointAhead !== undefined && { checkpointAhead }),
  };
  const pin = { log, head, keys, pinnedAt, updatedAt, ...notes };
  if (fields.entries === undefined) return pin;
  const entries = readEntries(fields.entries, written);
  // In a migrated pin, the signer of the entries' head may be untrusted: then the entries are checked again.
  if (!keys.has(entries.head.signerKeyId)) return pin;
  if (entries.head.size > head.size) throw malformed('its entries exceed its head');
  return { ...pin, entries };
}

/**
 * Returns the trusted keys of a pin of version 2: only the signer of the head, without the published period of that
 * key.
 */
function migratedKeys({ signerKeyId: kid }: SignedHead, keys: KeySet): KeySet {
  return new Map([[kid, rootKey(keys.get(kid)!)]]);
}

/**
 * Creates a tree-head key that is trusted without a chain: the first key, or an accepted key. An accepted key may
 * belong to another life than the earlier keys, so it gets its own `life` in the pin.
 */
export function rootKey({ kid, x, publicKey }: LogKey, life?: string): LogKey {
  const about = { purpose: 'transparency-sth', state: 'active', ...(life !== undefined && { life }) };
  return { kid, x, publicKey, ...about, fromSize: undefined, toSize: undefined };
}

function readOwnHead(json: Exact | undefined, keys: KeySet): SignedHead {
  const head = unwrap(readTreeHead(json), malformed);
  const signer = keys.get(head.signerKeyId)?.publicKey;
  if (signer !== undefined && verifyEd25519(signer, signedBytes(head), head.signature)) return head;
  throw malformed('a head has an invalid signature, so the file was altered');
}

function readEntries(json: Exact, keys: KeySet): CheckedEntries {
  const fields = members(json);
  const head = readOwnHead(fields?.head, keys);
  const edge = unwrap(readPath(fields?.edge), malformed);
  if (edge.length !== rootPlan(head.size).length) throw malformed('its edge has the wrong number of hashes');
  if (!equalHashes(foldRoot(sha256, head.size, edge), head.root))
    throw malformed('its edge does not result in the root of its head');
  return { head, edge };
}

/**
 * Compares published with pinned keys. Returns KEY_WITHDRAWN if a pinned key is missing, KEY_CHANGED if its value or
 * purpose changed or its revocation was undone, and WRONG_ORIGIN if only the origin of the log changed. Otherwise
 * returns undefined. Key sets are not signed, so these faults do not prove misbehaviour. Validity periods are not
 * compared, because a pin takes them from log entries.
 */
export function changedKey(pin: Pick<Pin, 'keys' | 'head'>, published: KeySet): AuditFault | undefined {
  let renamed: AuditFault | undefined;
  for (const was of pin.keys.values()) {
    const now = published.get(was.kid);
    if (now === undefined) return new AuditFault('KEY_WITHDRAWN', `key ${was.kid} is no longer published`);
    const change = changeOf(was, now);
    if (change !== undefined) return new AuditFault('KEY_CHANGED', `key ${was.kid} ${change}`);
    if (was.origin !== now.origin) renamed ??= originChanged(was, now);
  }
  return renamed;
}

function changeOf(was: LogKey, now: LogKey): string | undefined {
  if (now.x !== was.x) return `was ${was.x} and is now ${now.x}`;
  if (now.purpose !== was.purpose) return `had purpose ${was.purpose} and now has ${now.purpose}`;
  if (was.state === 'revoked' && now.state !== 'revoked') return `was revoked and is now ${now.state}`;
  return undefined;
}

function originChanged(was: LogKey, now: LogKey): AuditFault {
  return new AuditFault(
    'WRONG_ORIGIN',
    `the origin of the log was ${was.origin ?? 'unset'} and is now ${now.origin ?? 'unset'}`,
    fingerprint(now),
  );
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_PIN', `the pin file is malformed: ${reason}`);
}
