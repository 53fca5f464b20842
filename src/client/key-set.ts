import { bytesToHex } from '../tlog/hex.ts';
import { isEd25519Key } from './ed25519.ts';
import { base64url, type Exact, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { sha256 } from './sha256.ts';

/** A public key of the log from its key set (RFC 8037 with `svc_*` attributes). */
export interface LogKey {
  readonly kid: string;
  /** Base64url of the public key, as published. */
  readonly x: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly purpose: string | undefined;
  readonly state: string | undefined;
  /** Smallest size of a head, or smallest index of an entry, that the key may sign. */
  readonly fromSize: number | undefined;
  /** Largest size of a head that the key may sign; for entries, the index after the last that the key may sign. */
  readonly toSize: number | undefined;
  /** The origin of the log, which is the name of the key. Only for checkpoint keys. */
  readonly origin?: string;
  /**
   * The life of the log in which the key signs (docs: lives.md). Statements of different lives never
   * contradict each other.
   */
  readonly life?: string;
  /** Start of the key's validity, ISO 8601, as published. */
  readonly notBefore?: string;
  /** End of the key's validity, ISO 8601, as published. */
  readonly notAfter?: string;
  /** Time of the key's revocation, ISO 8601, as published. */
  readonly revokedAt?: string;
}

export type KeySet = ReadonlyMap<string, LogKey>;

/**
 * Parses `{"keys": [...]}`. Keys of types other than Ed25519 are ignored (RFC 7517 section 5). A missing or duplicate
 * id, a value that is not 32 bytes or an invalid size makes the set malformed.
 */
export function parseKeySet(text: string): KeySet | AuditFault {
  return readKeySet(parseExact(text));
}

export function readKeySet(json: Exact | undefined): KeySet | AuditFault {
  const list = Array.isArray(json) ? json : members(json)?.keys;
  if (!Array.isArray(list)) return malformed('keys: must be a list');
  const keys = new Map<string, LogKey>();
  for (const item of list) {
    const fields = members(item);
    if (fields === undefined) return malformed('a key is not a JSON object');
    if (fields.kty !== 'OKP' || fields.crv !== 'Ed25519') continue;
    const kid = string(fields.kid);
    if (kid === undefined || kid === '') return malformed('a key has no kid');
    if (keys.has(kid)) return malformed(`two keys have the kid ${kid}`);
    const publicKey = base64url(fields.x);
    if (publicKey?.length !== 32) return malformed(`x of key ${kid} is not 32 bytes in base64url`);
    const fromSize = size(fields.svc_from_size);
    const toSize = size(fields.svc_to_size);
    if (fromSize === null || toSize === null) return malformed(`the sizes of key ${kid} are not valid integers`);
    const named = { purpose: string(fields.svc_purpose), state: string(fields.svc_state) };
    const details = {
      ...optional('origin', fields.svc_origin),
      ...optional('life', fields.svc_life),
      ...optional('notBefore', fields.svc_not_before),
      ...optional('notAfter', fields.svc_not_after),
      ...optional('revokedAt', fields.svc_revoked_at),
    };
    keys.set(kid, { kid, x: string(fields.x)!, publicKey, ...named, fromSize, toSize, ...details });
  }
  return keys;
}

/** Serializes the keys as a key set, for files that must be verifiable offline. */
export function writeKeySet(keys: Iterable<LogKey>): string {
  return `{"keys":${writeKeys(keys)}}`;
}

/** Serializes only the list of keys. */
export function writeKeys(keys: Iterable<LogKey>): string {
  const list = [...keys].map((key) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    kid: key.kid,
    x: key.x,
    svc_purpose: key.purpose,
    svc_state: key.state,
    svc_from_size: key.fromSize,
    svc_to_size: key.toSize,
    svc_origin: key.origin,
    svc_life: key.life,
    svc_not_before: key.notBefore,
    svc_not_after: key.notAfter,
    svc_revoked_at: key.revokedAt,
  }));
  return JSON.stringify(list);
}

/** Maximum difference in milliseconds between clocks that are set correctly. */
export const clockToleranceMs = 5 * 60_000;

/** The members of a head that are checked against the period of its key. */
export interface DatedHead {
  readonly size: number;
  readonly timestampNs: bigint;
  readonly signerKeyId: string;
}

/**
 * Returns the signer of a head if the key may sign the head: the key has the purpose, and the head's size and time are
 * in the key's period. Heads of a revoked key are always rejected, because an attacker with the stolen key can choose
 * the date.
 */
export function headSigner(keys: KeySet, head: DatedHead): LogKey | AuditFault {
  const key = keyFor(keys, head.signerKeyId, 'transparency-sth');
  if (key instanceof AuditFault) return key;
  if (key.state === 'revoked') return new AuditFault('KEY_REVOKED', `key ${key.kid} was revoked`);
  return outsidePeriod(key, head) ?? key;
}

/**
 * Returns KEY_OUT_OF_RANGE for a head outside the sizes or times in which its key was in use. Both bounds are
 * inclusive: at a rotation, the old key signs the head that covers the rotation, and the new key signs the same size
 * again.
 */
export function outsidePeriod(
  key: LogKey,
  { size, timestampNs }: Omit<DatedHead, 'signerKeyId'>,
): AuditFault | undefined {
  const outside = (reason: string) => new AuditFault('KEY_OUT_OF_RANGE', `key ${key.kid} ${reason}`);
  if (size < (key.fromSize ?? 0) || size > (key.toSize ?? Number.MAX_SAFE_INTEGER))
    return outside(`signs sizes ${key.fromSize ?? 0} to ${key.toSize ?? 'now'}, not size ${size}`);
  const atMs = Number(timestampNs / 1_000_000n);
  const end = endOf(key);
  if (atMs < Date.parse(key.notBefore ?? '') - clockToleranceMs)
    return outside(`signs from ${key.notBefore} on, but the head of size ${size} is dated ${atMs} ms`);
  if (end !== undefined && atMs > end + clockToleranceMs)
    return outside(`ended at ${new Date(end).toISOString()}, but the head of size ${size} is dated ${atMs} ms`);
  return undefined;
}

/** Returns when the key ended, in epoch milliseconds; undefined while it is in use, or if the time is unknown. */
export function endOf({ notAfter, revokedAt }: LogKey): number | undefined {
  const ends = [notAfter, revokedAt].map((at) => Date.parse(at ?? '')).filter((at) => !Number.isNaN(at));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/**
 * Returns the key with this id if it may sign the entry at this index. The tree proves when an entry was logged, so
 * signatures made before a revocation stay valid. If the end of a revoked key's range is unknown, none of its
 * signatures are valid.
 */
export function entrySigner(keys: KeySet, kid: string, index: number): LogKey | AuditFault {
  const key = keyFor(keys, kid, 'event-signing');
  if (key instanceof AuditFault) return key;
  if (key.state === 'revoked' && index >= (key.toSize ?? 0)) {
    return new AuditFault('KEY_REVOKED', `key ${kid} was revoked before entry ${index} was logged`);
  }
  if (index >= (key.fromSize ?? 0) && index < (key.toSize ?? Number.MAX_SAFE_INTEGER)) return key;
  const range = `entries from ${key.fromSize ?? 0}${key.toSize === undefined ? ' on' : ` to below ${key.toSize}`}`;
  return new AuditFault('KEY_OUT_OF_RANGE', `key ${kid} signs ${range}, not entry ${index}`);
}

/**
 * Returns the key with this id if it may sign a receipt. A receipt's signature has no proven date, so receipts signed
 * by a revoked key are rejected.
 */
export function receiptSigner(keys: KeySet, kid: string): LogKey | AuditFault {
  const key = keyFor(keys, kid, 'event-signing');
  if (key instanceof AuditFault || key.state !== 'revoked') return key;
  return new AuditFault('KEY_REVOKED', `key ${kid} was revoked`);
}

/**
 * Returns the keys that may sign checkpoints for this origin: active or retired. Whether a key is valid Ed25519 is
 * checked during verification, because a set can hold tens of thousands of unused keys.
 */
export function checkpointSigners(keys: KeySet, origin: string): LogKey[] {
  return [...keys.values()].filter(
    (key) =>
      key.purpose === 'checkpoint' && key.origin === origin && (key.state === 'active' || key.state === 'retired'),
  );
}

/**
 * Returns whether a head and a checkpoint with different roots prove misbehaviour: both keys are in the set, active and
 * of one life. An attacker with an ended key can backdate a head, and a checkpoint has no date.
 */
export function canAccuse(keys: KeySet, headKid: string, { x }: LogKey): boolean {
  const head = keys.get(headKid);
  const checkpoint = [...keys.values()].find((key) => key.purpose === 'checkpoint' && key.x === x);
  return [head, checkpoint].every((key) => key?.state === 'active') && head?.life === checkpoint?.life;
}

/** Replaces the tree-head keys, and the keys of each purpose that `trusted` contains, with the trusted keys. */
export function anchored(keys: KeySet, trusted: KeySet): KeySet {
  const purposes = new Set(['transparency-sth', ...[...trusted.values()].map(({ purpose }) => purpose)]);
  return new Map([...[...keys].filter(([, { purpose }]) => !purposes.has(purpose)), ...trusted]);
}

function keyFor(keys: KeySet, kid: string, purpose: string): LogKey | AuditFault {
  const key = keys.get(kid);
  if (key === undefined) return new AuditFault('UNKNOWN_KEY', `no key ${kid} in the key set`);
  if (key.purpose !== purpose) {
    return new AuditFault('WRONG_KEY_PURPOSE', `key ${kid} has purpose ${key.purpose ?? 'none'}, not ${purpose}`);
  }
  if (key.state === 'pending') return new AuditFault('KEY_PENDING', `key ${kid} is not in use yet`);
  if (key.state !== 'active' && key.state !== 'retired' && key.state !== 'revoked')
    return malformed(`key ${kid} has state ${key.state ?? 'none'}`);
  if (!isAcceptable(key)) return new AuditFault('WEAK_KEY', `key ${kid} is not a valid Ed25519 key`);
  return key;
}

/**
 * Whether each key is a valid Ed25519 key. Cached, because decoding the point takes half a millisecond, as long as six
 * native verifications, and a log has few keys.
 */
const acceptable = new WeakMap<LogKey, boolean>();

function isAcceptable(key: LogKey): boolean {
  const known = acceptable.get(key);
  if (known !== undefined) return known;
  const found = isEd25519Key(key.publicKey);
  acceptable.set(key, found);
  return found;
}

/** Returns the SHA-256 of the raw public key in hex, as the service prints it at startup. */
export function fingerprint(key: LogKey): string {
  return bytesToHex(sha256(key.publicKey));
}

function optional(
  name: 'origin' | 'life' | 'notBefore' | 'notAfter' | 'revokedAt',
  value: Exact | undefined,
): Partial<LogKey> {
  return typeof value === 'string' ? { [name]: value } : {};
}

/** Reads a size; undefined if absent, null if it is not a size. */
function size(value: Exact | undefined): number | undefined | null {
  return value === undefined ? undefined : (safeInteger(value) ?? null);
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_KEYS', `the key set is malformed: ${reason}`);
}
