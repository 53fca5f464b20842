import { bytesToHex } from '../tlog/hex.ts';
import { isEd25519Key } from './ed25519.ts';
import { base64url, type Exact, members, parseExact, safeInteger, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { sha256 } from './sha256.ts';

/** A public key of the log, as its key set describes it (RFC 8037 with the `svc_*` attributes). */
export interface LogKey {
  readonly kid: string;
  /** Base64url of the public key, as published. */
  readonly x: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly purpose: string | undefined;
  readonly state: string | undefined;
  readonly fromSize: number | undefined;
  readonly toSize: number | undefined;
}

export type KeySet = ReadonlyMap<string, LogKey>;

/** What a key may have been made for, as far as verifiers care. */
export type KeyPurpose = 'transparency-sth' | 'event-signing';

/**
 * Reads `{"keys": [...]}`. Keys of other kinds are passed over, as RFC 7517 section 5 has it; two keys of one name, or
 * an Ed25519 key that is not spelt as it must be, spoil the set.
 */
export function parseKeySet(text: string): KeySet | Fault {
  return readKeySet(parseExact(text));
}

export function readKeySet(json: Exact | undefined): KeySet | Fault {
  const list = Array.isArray(json) ? json : members(json)?.keys;
  if (!Array.isArray(list)) return malformed('it has no list of keys');
  const keys = new Map<string, LogKey>();
  for (const item of list) {
    const fields = members(item);
    if (fields === undefined) return malformed('a key is no JSON object');
    if (fields.kty !== 'OKP' || fields.crv !== 'Ed25519') continue;
    const kid = string(fields.kid);
    if (kid === undefined || kid === '') return malformed('a key has no kid');
    if (keys.has(kid)) return malformed(`two keys are named ${kid}`);
    const publicKey = base64url(fields.x);
    if (publicKey?.length !== 32) return malformed(`x of key ${kid} is not 32 bytes in base64url`);
    const fromSize = size(fields.svc_from_size);
    const toSize = size(fields.svc_to_size);
    if (fromSize === null || toSize === null) return malformed(`the sizes of key ${kid} are no integers`);
    const named = { purpose: string(fields.svc_purpose), state: string(fields.svc_state) };
    keys.set(kid, { kid, x: string(fields.x)!, publicKey, ...named, fromSize, toSize });
  }
  return keys;
}

/** The keys as a key set again, for files that must be readable without the log. */
export function writeKeySet(keys: Iterable<LogKey>): string {
  const list = [...keys].map((key) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    kid: key.kid,
    x: key.x,
    svc_purpose: key.purpose,
    svc_state: key.state,
    svc_from_size: key.fromSize,
    svc_to_size: key.toSize,
  }));
  return JSON.stringify({ keys: list });
}

/** The key of this name, if it may sign for this purpose; for heads, at this tree size. */
export function signerOf(keys: KeySet, kid: string, purpose: KeyPurpose, treeSize?: number): LogKey | Fault {
  const key = keys.get(kid);
  if (key === undefined) return new Fault('UNKNOWN_KEY', `no key ${kid} in the key set`);
  if (key.purpose !== purpose) {
    return new Fault(
      'WRONG_KEY_PURPOSE',
      `key ${kid} is for ${key.purpose ?? 'nothing'}, not for ${purpose}`,
    );
  }
  if (key.state === 'revoked') return new Fault('KEY_REVOKED', `key ${kid} was revoked`);
  if (key.state === 'pending') return new Fault('KEY_PENDING', `key ${kid} is not in use yet`);
  if (key.state !== 'active' && key.state !== 'retired')
    return malformed(`key ${kid} has state ${key.state ?? 'none'}`);
  if (
    treeSize !== undefined &&
    (treeSize < (key.fromSize ?? 0) || treeSize > (key.toSize ?? Number.MAX_SAFE_INTEGER))
  ) {
    const range = `sizes ${key.fromSize ?? 0} to ${key.toSize ?? 'now'}`;
    return new Fault('KEY_OUT_OF_RANGE', `key ${kid} signs ${range}, not size ${treeSize}`);
  }
  if (!isEd25519Key(key.publicKey)) return new Fault('WEAK_KEY', `key ${kid} is no acceptable Ed25519 key`);
  return key;
}

/** SHA-256 of the raw public key in hex, as the service prints it at every start. */
export function fingerprint(key: LogKey): string {
  return bytesToHex(sha256(key.publicKey));
}

/** Undefined where absent, null where it is no size. */
function size(value: Exact | undefined): number | undefined | null {
  return value === undefined ? undefined : (safeInteger(value) ?? null);
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_KEYS', `the key set is malformed: ${reason}`);
}
