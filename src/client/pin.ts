import { verifyEd25519 } from './ed25519.ts';
import { base64url, type Exact, members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import { readTreeHead, type SignedHead, signedBytes, writeTreeHead } from './tree-head.ts';

/** What an auditor remembers of a log: the latest head that it accepted, and every key that it has seen. */
export interface Pin {
  /** URL of the log, as first given. */
  readonly log: string;
  readonly head: SignedHead;
  /** Public keys (base64url) by key id. Keys may be added, never changed or taken away. */
  readonly keys: Readonly<Record<string, string>>;
  /** ISO 8601: when the first head was pinned, and this one. */
  readonly pinnedAt: string;
  readonly updatedAt: string;
}

const version = 1n;

export function writePin(pin: Pin): string {
  const { log, pinnedAt, updatedAt, keys } = pin;
  const rest = JSON.stringify({ log, pinned_at: pinnedAt, updated_at: updatedAt, keys });
  return `{"version":${version},"head":${writeTreeHead(pin.head)},${rest.slice(1)}\n`;
}

/**
 * Reads a pin, and checks that its head is signed by the key that it remembers for it: a file that was altered must
 * not accuse the log.
 */
export function parsePin(text: string): Pin | Fault {
  const fields = members(parseExact(text));
  if (fields?.version !== version) return malformed(`it has no "version": ${version}`);
  const head = readTreeHead(fields.head);
  if (head instanceof Fault) return malformed(head.message);
  const log = string(fields.log);
  const pinnedAt = string(fields.pinned_at);
  const updatedAt = string(fields.updated_at);
  if (log === undefined || pinnedAt === undefined || updatedAt === undefined)
    return malformed('log or a time is missing');
  const keys = readKeys(fields.keys);
  if (keys === undefined) return malformed('keys is no object of texts');
  const signer = base64url(keys[head.signerKeyId]);
  if (signer === undefined || !verifyEd25519(signer, signedBytes(head), head.signature))
    return malformed('its head is not signed by the key that it names, so the file was altered');
  return { log, head, keys, pinnedAt, updatedAt };
}

/** A key that changed or vanished since the pin was made. */
export function changedKey(pin: Pin, keys: KeySet): Fault | undefined {
  for (const [kid, x] of Object.entries(pin.keys)) {
    const now = keys.get(kid);
    if (now === undefined) return new Fault('KEY_WITHDRAWN', `key ${kid} is no longer in the key set`);
    if (now.x !== x) return new Fault('KEY_CHANGED', `key ${kid} was ${x} and is ${now.x} now`);
  }
  return undefined;
}

function readKeys(json: Exact | undefined): Record<string, string> | undefined {
  const fields = members(json);
  if (fields === undefined) return undefined;
  const keys: Record<string, string> = {};
  for (const [kid, x] of Object.entries(fields)) {
    if (typeof x !== 'string') return undefined;
    keys[kid] = x;
  }
  return keys;
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_PIN', `the pin file is malformed: ${reason}`);
}
