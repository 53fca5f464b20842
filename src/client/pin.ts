import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, foldRoot, type Hash, rootPlan } from '../tlog/tree.ts';
import { verifyEd25519 } from './ed25519.ts';
import { type Exact, members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { type KeySet, type LogKey, readKeySet, writeKeys } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { readTreeHead, type SignedHead, signedBytes, writeTreeHead } from './tree-head.ts';
import { readPath } from './verify.ts';

/** What an auditor remembers of a log: the latest head that it accepted, and every key that it has seen. */
export interface Pin {
  /** URL of the log, as first given. */
  readonly log: string;
  readonly head: SignedHead;
  /** As last published. Keys may be added, never taken away; `changedKey` tells what may become of them. */
  readonly keys: KeySet;
  /** Up to where every entry was fetched and checked; undefined where none was. */
  readonly entries?: CheckedEntries;
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

const version = 2n;

export function writePin(pin: Pin): string {
  const { log, pinnedAt, updatedAt, entries } = pin;
  const about = JSON.stringify({ log, pinned_at: pinnedAt, updated_at: updatedAt });
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
  if (fields?.version !== version) return malformed(`it has no "version": ${version}`);
  const log = string(fields.log);
  const pinnedAt = string(fields.pinned_at);
  const updatedAt = string(fields.updated_at);
  if (log === undefined || pinnedAt === undefined || updatedAt === undefined)
    return malformed('log or a time is missing');
  const keys = readKeySet(fields.keys);
  if (keys instanceof Fault) return malformed(keys.message);
  const head = readOwnHead(fields.head, keys);
  if (head instanceof Fault) return head;
  const pin = { log, head, keys, pinnedAt, updatedAt };
  if (fields.entries === undefined) return pin;
  const entries = readEntries(fields.entries, keys);
  if (entries instanceof Fault) return entries;
  if (entries.head.size > head.size) return malformed('its entries reach beyond its head');
  return { ...pin, entries };
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
 * What keys may not do between two audits: vanish, have another value, purpose, range or name, be good again after they
 * were revoked. They may take over, which gives them a beginning, and end, which gives them an end: once each.
 *
 * That the log has another name now is no misbehaviour, for the operator may rename it, but another log to the rest of
 * the world (C2SP tlog-checkpoint): WRONG_ORIGIN, where nothing worse is found.
 */
export function changedKey(pin: Pin, keys: KeySet): Fault | undefined {
  let renamed: Fault | undefined;
  for (const was of pin.keys.values()) {
    const { kid } = was;
    const now = keys.get(kid);
    if (now === undefined) return new Fault('KEY_WITHDRAWN', `key ${kid} is no longer in the key set`);
    const change = changeOf(was, now) ?? changeOfRange(was, now, largestSigned(pin, kid));
    if (change !== undefined) return new Fault('KEY_CHANGED', `key ${kid} ${change}`);
    if (was.origin !== now.origin) renamed ??= otherName(was, now);
  }
  return renamed;
}

function changeOf(was: LogKey, now: LogKey): string | undefined {
  if (now.x !== was.x) return `was ${was.x} and is ${now.x} now`;
  if (now.purpose !== was.purpose) return `was for ${was.purpose} and is for ${now.purpose} now`;
  if (was.state === 'revoked' && now.state !== 'revoked') return `was revoked and is ${now.state} now`;
  // Only a key in use takes the log's new name; what one signed before it ended, it signed under the old one.
  const mayBeRenamed = was.purpose === 'checkpoint' && (was.state === 'active' || was.state === 'pending');
  if (now.origin === was.origin || (mayBeRenamed && now.origin !== undefined)) return undefined;
  return `was named ${was.origin ?? 'nothing'} and is named ${now.origin ?? 'nothing'} now`;
}

/** `signed` is the size of the largest head by this key that the auditor has seen; 0 for none. */
function changeOfRange(was: LogKey, now: LogKey, signed: number): string | undefined {
  const isBegun = was.state !== 'pending' || was.fromSize !== undefined;
  if (isBegun && (now.fromSize ?? 0) !== (was.fromSize ?? 0))
    return `covered sizes from ${was.fromSize ?? 0} and covers them from ${now.fromSize ?? 0} now`;
  if (was.toSize !== undefined && now.toSize !== was.toSize)
    return `covered sizes up to ${was.toSize} and covers them up to ${now.toSize ?? 'any'} now`;
  if (now.toSize !== undefined && now.toSize < signed)
    return `signed a head of size ${signed} and covers sizes up to ${now.toSize} now`;
  return undefined;
}

function largestSigned({ head, entries }: Pin, kid: string): number {
  const sizes = [head, entries?.head].map((one) => (one?.signerKeyId === kid ? one.size : 0));
  return Math.max(...sizes);
}

function otherName({ kid, origin: was }: LogKey, { origin: now }: LogKey): Fault {
  const renamed = `if the operator renamed it, write that into the pin as svc_origin of key ${kid}`;
  return new Fault(
    'WRONG_ORIGIN',
    `the log was named ${was ?? 'nothing'} and is named ${now} now; ${renamed}`,
  );
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_PIN', `the pin file is malformed: ${reason}`);
}
