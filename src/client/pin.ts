import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, foldRoot, type Hash, rootPlan } from '../tlog/tree.ts';
import { readCheckpoint } from './checkpoint.ts';
import { verifyEd25519 } from './ed25519.ts';
import { type Exact, members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { fingerprint, type KeySet, type LogKey, readKeySet, writeKeys } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { readTreeHead, type SignedHead, signedBytes, writeTreeHead } from './tree-head.ts';
import { readPath } from './verify.ts';

/** The latest head of a log that an auditor accepted, and the keys that it trusts. */
export interface Pin {
  /** URL of the log, as first given. */
  readonly log: string;
  readonly head: SignedHead;
  /**
   * Tree-head keys: the signer of the first pinned head, keys that rotations lead to, keys that the operator accepted.
   * And the checkpoint key, once a checkpoint was seen. Periods are those that entries of the log tell.
   */
  readonly keys: KeySet;
  /** Up to where every entry was fetched and checked; undefined where none was. */
  readonly entries?: CheckedEntries;
  /** The first cosigned checkpoint of the head's tree that was seen: it shows when that tree existed. */
  readonly checkpoint?: string;
  /** The largest checkpoint that was seen, while its tree is larger than the head's. */
  readonly checkpointAhead?: string;
  /** ISO 8601: when the first head was pinned, and this one. */
  readonly pinnedAt: string;
  readonly updatedAt: string;
}

/** All entries under a signed head, of which only the right edge of their tree is kept, to go on from there. */
export interface CheckedEntries {
  readonly head: SignedHead;
  /** The hashes of `rootPlan(head.size)`: they give the root of the head. */
  readonly edge: readonly Hash[];
}

const version = 5n;
/** Its keys were those of the unsigned key set. */
const versionOfUnsignedKeys = 2n;
/** Version 4 has no checkpoint ahead of the head, version 3 no checkpoint. */
const versions: readonly (Exact | undefined)[] = [version, 4n, 3n, versionOfUnsignedKeys];

export function writePin(pin: Pin): string {
  const { log, pinnedAt, updatedAt, entries, checkpoint, checkpointAhead: checkpoint_ahead } = pin;
  const times = { pinned_at: pinnedAt, updated_at: updatedAt };
  const about = JSON.stringify({ log, ...times, checkpoint, checkpoint_ahead });
  const edge = JSON.stringify(entries?.edge.map(bytesToHex));
  const checked =
    entries === undefined ? '' : `,"entries":{"head":${writeTreeHead(entries.head)},"edge":${edge}}`;
  const keys = writeKeys(pin.keys.values());
  return `{"version":${version},${about.slice(1, -1)},"head":${writeTreeHead(pin.head)}${checked},"keys":${keys}}\n`;
}

/**
 * Reads a pin, and checks that its heads are signed by the keys that it remembers for them, and that the edge gives
 * the root of its head: a file that was altered must not accuse the log. That a key was revoked since is no fault
 * of the pin: its signature was good when it was pinned.
 */
export function parsePin(text: string): Pin | Fault {
  const fields = members(parseExact(text));
  if (fields === undefined || !versions.includes(fields.version))
    return malformed(`it has no "version": ${version}`);
  const log = string(fields.log);
  const pinnedAt = string(fields.pinned_at);
  const updatedAt = string(fields.updated_at);
  if (log === undefined || pinnedAt === undefined || updatedAt === undefined)
    return malformed('log or a time is missing');
  const written = readKeySet(fields.keys);
  if (written instanceof Fault) return malformed(written.message);
  const head = readOwnHead(fields.head, written);
  if (head instanceof Fault) return head;
  const keys = fields.version === versionOfUnsignedKeys ? migratedKeys(head, written) : written;
  const checkpoint = string(fields.checkpoint);
  if (fields.checkpoint !== undefined && checkpoint === undefined) return malformed('checkpoint is not text');
  const checkpointAhead = string(fields.checkpoint_ahead);
  if (fields.checkpoint_ahead !== undefined && readCheckpoint(checkpointAhead ?? '') instanceof Fault)
    return malformed('checkpoint_ahead is not a checkpoint');
  const notes = {
    ...(checkpoint !== undefined && { checkpoint }),
    ...(checkpointAhead !== undefined && { checkpointAhead }),
  };
  const pin = { log, head, keys, pinnedAt, updatedAt, ...notes };
  if (fields.entries === undefined) return pin;
  const entries = readEntries(fields.entries, written);
  if (entries instanceof Fault) return entries;
  // Of a pin of before whose key nothing vouches for: the entries are checked again.
  if (!keys.has(entries.head.signerKeyId)) return pin;
  if (entries.head.size > head.size) return malformed('its entries reach beyond its head');
  return { ...pin, entries };
}

/** From the earlier version only the signer of the head is trusted; its published period is not. */
function migratedKeys({ signerKeyId: kid }: SignedHead, keys: KeySet): KeySet {
  return new Map([[kid, rootKey(keys.get(kid)!)]]);
}

/**
 * A tree-head key that is trusted without anything that vouches for it: the first one, or an accepted one. An accepted
 * key may be of another life than the keys before it, so that it begins a `life` of its own in the pin.
 */
export function rootKey({ kid, x, publicKey }: LogKey, life?: string): LogKey {
  const about = { purpose: 'transparency-sth', state: 'active', ...(life !== undefined && { life }) };
  return { kid, x, publicKey, ...about, fromSize: undefined, toSize: undefined };
}

function readOwnHead(json: Exact | undefined, keys: KeySet): SignedHead | Fault {
  const head = readTreeHead(json);
  if (head instanceof Fault) return malformed(head.message);
  const signer = keys.get(head.signerKeyId)?.publicKey;
  if (signer !== undefined && verifyEd25519(signer, signedBytes(head), head.signature)) return head;
  return malformed('a head in it is not signed by the key that it names, so the file was altered');
}

function readEntries(json: Exact, keys: KeySet): CheckedEntries | Fault {
  const fields = members(json);
  const head = readOwnHead(fields?.head, keys);
  if (head instanceof Fault) return head;
  const edge = readPath(fields?.edge);
  if (edge instanceof Fault) return malformed(edge.message);
  if (edge.length !== rootPlan(head.size).length) return malformed('its edge has another number of hashes');
  if (!equalHashes(foldRoot(sha256, head.size, edge), head.root))
    return malformed('its edge gives another root than its head has');
  return { head, edge };
}

/**
 * How the published keys contradict the pinned ones: KEY_WITHDRAWN, KEY_CHANGED or KEY_REVOKED, and WRONG_ORIGIN when
 * only the name of the log changed. Key sets are not signed, so nothing of this accuses the log. Periods are not
 * compared, because a pin takes them from the log's entries.
 */
export function changedKey(pin: Pick<Pin, 'keys' | 'head'>, published: KeySet): Fault | undefined {
  let renamed: Fault | undefined;
  for (const was of pin.keys.values()) {
    const now = published.get(was.kid);
    if (now === undefined) return new Fault('KEY_WITHDRAWN', `key ${was.kid} is no longer published`);
    const change = changeOf(was, now);
    if (change !== undefined) return new Fault('KEY_CHANGED', `key ${was.kid} ${change}`);
    if (was.origin !== now.origin) renamed ??= otherName(was, now);
  }
  return renamed;
}

function changeOf(was: LogKey, now: LogKey): string | undefined {
  if (now.x !== was.x) return `was ${was.x} and is ${now.x} now`;
  if (now.purpose !== was.purpose) return `was for ${was.purpose} and is for ${now.purpose} now`;
  if (was.state === 'revoked' && now.state !== 'revoked') return `was revoked and is ${now.state} now`;
  return undefined;
}

function otherName(was: LogKey, now: LogKey): Fault {
  return new Fault(
    'WRONG_ORIGIN',
    `the log was named ${was.origin ?? 'nothing'} and is named ${now.origin ?? 'nothing'} now; if the operator renamed ` +
      `it, use --accept-key ${fingerprint(now)}`,
  );
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_PIN', `the pin file is malformed: ${reason}`);
}
