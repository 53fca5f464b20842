import { generateKeyPairSync } from 'node:crypto';
import type { Key as KeyRecord } from '../../contract/resources/key.ts';
import type { JsonWebKey, SignedTreeHead } from '../../contract/resources/transparency.ts';
import { keyPurposes, keyStates, type LifeReason, lifeReasons } from '../../contract/vocabulary.ts';
import { omitUndefined } from '../../database/omit-undefined.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import type { LedgerKeyPurpose, PublicJwk, UnsignedEntry } from '../ledger.ts';

/** The purposes of the keys that every log must have. Each key signs one kind of data. */
export const ledgerPurposes = [
  'transparency-sth',
  'event-signing',
  'access-token',
  'checkpoint',
] as const satisfies readonly LedgerKeyPurpose[];

/** How a pending key takes over. */
export interface Succession {
  /** Id of the key that was active when this key was created. */
  readonly replaces: string;
  /** Id of the `key.rotated` entry, so that appending it again after a crash adds nothing. */
  readonly entry_id: string;
  readonly actor: string;
  /** Time of the takeover; absent for an immediate takeover. */
  readonly due?: string;
}

/**
 * The end of the previous key, which takes effect with this key's first signature, and the entry that records
 * it.
 */
export interface Ending {
  readonly kid: string;
  readonly state: 'retired' | 'revoked';
  readonly entry: UnsignedEntry;
}

/** A life of the log that has its keys but not yet its `log.life_started` entry. */
export interface LifeStart {
  readonly reason: LifeReason;
  /** Id of the entry. A repeated append after a crash adds nothing. */
  readonly entry_id: string;
  /** Time of the start and of its entry, ISO 8601. */
  readonly at: string;
  /** Origin of the previous life, and its largest known head. */
  readonly previous?: { readonly origin: string; readonly head?: SignedTreeHead };
}

/**
 * The content of a key file: the published members (RFC 8037, with the attributes of the specification) and private
 * members.
 */
export interface KeyFile extends JsonWebKey {
  /**
   * The plain private key, base64url. Absent if the private key is encrypted, is in an ssh-agent, or was removed at the
   * key's end.
   */
  readonly d?: string;
  /** The private key as a JWE. Absent unless the private key is encrypted. */
  readonly svc_encrypted?: string;
  /** The private key is in an ssh-agent and not in this file. Absent for keys in files. */
  readonly svc_signer?: 'ssh-agent';
  /**
   * Time of the key's creation, ISO 8601. Absent in files from versions without key rotation; keys in such files were
   * active from the start.
   */
  readonly svc_created?: string;
  readonly svc_succession?: Succession;
  readonly svc_ending?: Ending;
  /** Entries about the end of this key, which must be in the log. */
  readonly svc_entries?: readonly UnsignedEntry[];
  /**
   * The start of a new life. Only in the event-signing key of that life, until the entry that begins the life is in the
   * log.
   */
  readonly svc_life_start?: LifeStart;
}

/** Thrown if the key cannot be used. The message gives the reason. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/**
 * Returns the largest size at which the keys of this life began or ended. Every commit is on disk before a key
 * file names its size, so a smaller log was rolled back.
 */
export function recordedSize(files: readonly KeyFile[], life: string | undefined): number {
  const sizes = files
    .filter(({ svc_life }) => svc_life === life)
    .flatMap(({ svc_from_size = 0, svc_to_size = 0 }) => [svc_from_size, svc_to_size]);
  return sizes.reduce((largest, size) => Math.max(largest, size), 0);
}

/** Creates a new pending key pair. */
export function newKeyFile(purpose: LedgerKeyPurpose, timeMs: number): KeyFile & { readonly d: string } {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined)
    throw new Error('internal error: the new Ed25519 key was exported without x or d');
  return { ...pendingFile(purpose, x, timeMs), d };
}

/** Creates a pending key whose private key stays in an ssh-agent. */
export function agentKeyFile(purpose: LedgerKeyPurpose, publicKey: Uint8Array, timeMs: number): KeyFile {
  const x = Buffer.from(publicKey).toString('base64url');
  return { ...pendingFile(purpose, x, timeMs), svc_signer: 'ssh-agent' };
}

function pendingFile(purpose: LedgerKeyPurpose, x: string, timeMs: number): KeyFile {
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    x,
    kid: uuid7(timeMs),
    use: 'sig',
    alg: 'EdDSA',
    svc_purpose: purpose,
    svc_state: 'pending',
    svc_created: new Date(timeMs).toISOString(),
  };
}

/**
 * Returns the key as active from size `fromSize` onwards. For a key that signs heads or checkpoints, `fromSize` is the
 * size of its smallest tree; for a key that signs entries, its first index. Keys of access tokens cover no sizes,
 * because tokens are not part of the tree.
 */
export function activated(file: KeyFile, fromSize: number, timeMs: number, ending?: Ending): KeyFile {
  const { svc_succession: _done, ...rest } = file;
  return {
    ...rest,
    svc_state: 'active',
    ...(file.svc_purpose === 'access-token' ? {} : { svc_from_size: fromSize }),
    svc_not_before: new Date(timeMs).toISOString(),
    ...(ending === undefined ? {} : { svc_ending: ending }),
  };
}

/**
 * Returns the key after its end, without its private key. `toSize`: for a tree-head key, the size of the largest tree
 * whose head it signed; for an entry key, the index after its last entry; undefined if unknown. A key that never signed
 * covers the empty tree, which has no heads.
 */
export function ended(
  file: KeyFile,
  { state, entry }: { readonly state: Ending['state']; readonly entry?: UnsignedEntry },
  toSize: number | undefined,
  timeMs: number,
): KeyFile {
  const { d: _plain, svc_encrypted: _sealed, svc_succession: _givenUp, ...others } = file;
  const { svc_ending: _done, svc_life_start: _begun, ...rest } = others;
  const at = new Date(timeMs).toISOString();
  const hasSizes = file.svc_purpose !== 'access-token';
  const signed = toSize === undefined ? {} : { svc_to_size: toSize };
  const sizes = file.svc_state === 'pending' ? { svc_from_size: 0, svc_to_size: 0 } : signed;
  return {
    ...rest,
    ...(hasSizes && file.svc_to_size === undefined ? sizes : {}),
    svc_state: state,
    svc_not_after: file.svc_not_after ?? at,
    ...(state === 'revoked' ? { svc_revoked_at: at } : {}),
    ...(entry === undefined ? {} : { svc_entries: [...(file.svc_entries ?? []), entry] }),
  };
}

/**
 * Returns purposes without an active key. A log from a version without checkpoint keys may lack a checkpoint key, which
 * is then created.
 */
export function lostPurposes(files: readonly KeyFile[], isActive: (file: KeyFile) => boolean): LedgerKeyPurpose[] {
  const isOfBefore = files.every(({ svc_created }) => svc_created === undefined);
  const held = new Set(files.filter(isActive).map(({ svc_purpose }) => svc_purpose));
  return ledgerPurposes.filter((one) => !held.has(one) && !(isOfBefore && one === 'checkpoint'));
}

/**
 * Returns whether the private key exists: in the file, plain or encrypted, or, if the key is active or pending, in an
 * ssh-agent.
 */
export function hasPrivateKey(file: KeyFile): boolean {
  const { d, svc_encrypted, svc_signer, svc_state } = file;
  if (d !== undefined || svc_encrypted !== undefined) return true;
  return svc_signer !== undefined && (svc_state === 'active' || svc_state === 'pending');
}

/**
 * Returns the key as a backup holds it: without its private key and without reference to an agent, so it
 * cannot sign.
 */
export function publicHalf(key: KeyFile): KeyFile {
  const { d: _plain, svc_encrypted: _sealed, svc_signer: _agent, ...file } = key;
  return file;
}

/** Returns the public members of a key. */
export function published(file: KeyFile): JsonWebKey {
  const { kty, crv, x, kid, use, alg, svc_purpose, svc_state } = file;
  const { svc_from_size, svc_to_size, svc_not_before, svc_not_after, svc_revoked_at } = file;
  const { svc_origin, svc_life } = file;
  return {
    ...{ kty, crv, x, kid, use, alg, svc_purpose, svc_state },
    ...omitUndefined({ svc_from_size, svc_to_size, svc_not_before, svc_not_after, svc_revoked_at }),
    ...omitUndefined({ svc_life, svc_origin }),
  };
}

/**
 * Returns a public key without sizes above `size`, which readers of a delayed log must not see. A revoked key keeps
 * `size` as its end, because none of its signatures would be valid without an end.
 */
export function publishedAt(jwk: PublicJwk, size: number): PublicJwk {
  const shown = Object.entries(jwk).filter(([name, value]) => !/_size$/.test(name) || Number(value) <= size);
  const isHidden = Number(jwk.svc_to_size ?? 0) > size && jwk.svc_state === 'revoked';
  return { ...Object.fromEntries(shown), ...(isHidden ? { svc_to_size: size } : {}) };
}

/** Returns the key as a record for operators. */
export function recordOf(file: KeyFile, fingerprint: string): KeyRecord {
  const { svc_not_before, svc_not_after, svc_revoked_at, svc_from_size, svc_to_size } = file;
  return {
    kid: file.kid,
    purpose: file.svc_purpose,
    state: file.svc_state,
    fingerprint,
    signer: file.svc_signer ?? 'file',
    created_at: createdAt(file),
    ...omitUndefined({ activated_at: svc_not_before, retired_at: svc_not_after, revoked_at: svc_revoked_at }),
    ...omitUndefined({ from_size: svc_from_size, to_size: svc_to_size }),
  };
}

/** Compares keys by age, with a stable order for equal ages. */
export function byAge(a: KeyFile, b: KeyFile): number {
  const [left, right] = [`${createdAt(a)} ${a.kid}`, `${createdAt(b)} ${b.kid}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

export function createdAt(file: KeyFile): string {
  return file.svc_created ?? file.svc_not_before ?? new Date(0).toISOString();
}

/** Parses a key file without testing the key pair. @throws KeyFileError for an incomplete or inconsistent file */
export function parseKeyFile(text: string): KeyFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new KeyFileError('not valid JSON');
  }
  if (!isObject(file)) throw new KeyFileError('not a JSON object');
  for (const [name, { wanted, test }] of Object.entries(checks)) {
    if (!test(file[name])) throw new KeyFileError(`${name} is ${wanted}`);
  }
  if (file.svc_signer !== undefined && (file.d !== undefined || file.svc_encrypted !== undefined))
    throw new KeyFileError('svc_signer is ssh-agent, but the file has a private part');
  if (file.svc_state === 'pending' && file.svc_succession === undefined)
    throw new KeyFileError('svc_succession is missing');
  return file as unknown as KeyFile;
}

interface Check {
  /** The problem with an invalid value; completes "<member> is …", such as "not a UUID". */
  readonly wanted: string;
  test(value: unknown): boolean;
}

const only = (value: string): Check => ({ wanted: `not ${value}`, test: (given) => given === value });
const among = (values: readonly string[], wanted: string): Check => ({
  wanted,
  test: (given) => values.includes(given as string),
});
const optional = (wanted: string, test: (value: unknown) => boolean): Check => ({
  wanted,
  test: (given) => given === undefined || test(given),
});
const size = optional(
  'not an integer from 0 to 2^53 − 1',
  (given) => Number.isSafeInteger(given) && (given as number) >= 0,
);
const time = optional('not an ISO 8601 time', (given) => typeof given === 'string' && !Number.isNaN(Date.parse(given)));

const checks = {
  kty: only('OKP'),
  crv: only('Ed25519'),
  kid: { wanted: 'not a UUID', test: (given) => given !== undefined && canonicalUuid(given) === given },
  x: { wanted: 'not an acceptable Ed25519 public key', test: (given) => is32Bytes(given) },
  d: optional('not an Ed25519 private key', is32Bytes),
  svc_encrypted: optional('not a JWE', (given) => typeof given === 'string'),
  svc_signer: optional('not ssh-agent', (given) => given === 'ssh-agent'),
  svc_purpose: among(keyPurposes, 'missing or unknown'),
  svc_state: among(keyStates, 'missing or unknown'),
  svc_from_size: size,
  svc_to_size: size,
  svc_not_before: time,
  svc_not_after: time,
  svc_revoked_at: time,
  svc_created: time,
  svc_origin: optional('not a string', (given) => typeof given === 'string'),
  svc_life: optional('not 8 hex digits', (given) => typeof given === 'string' && /^[0-9a-f]{8}$/.test(given)),
  svc_life_start: optional('not a valid start of a life', isLifeStart),
  svc_succession: optional(
    'not a valid succession',
    (given) =>
      isObject(given) &&
      isText(given.replaces) &&
      isText(given.entry_id) &&
      isText(given.actor) &&
      time.test(given.due),
  ),
  svc_ending: optional('not a valid ending of a key', isEnding),
  svc_entries: optional('not a list of log entries', (given) => Array.isArray(given) && given.every(isEntry)),
} as const satisfies Partial<Record<keyof KeyFile, Check>>;

function isEnding(value: unknown): boolean {
  if (!isObject(value) || !isText(value.kid) || !isEntry(value.entry)) return false;
  return value.state === 'retired' || value.state === 'revoked';
}

function isLifeStart(value: unknown): boolean {
  if (!isObject(value) || !isText(value.entry_id) || !isText(value.at) || !time.test(value.at)) return false;
  const { previous } = value;
  return (
    (lifeReasons as readonly unknown[]).includes(value.reason) &&
    (previous === undefined || (isObject(previous) && isText(previous.origin)))
  );
}

function isEntry(value: unknown): boolean {
  return isObject(value) && isText(value.id) && isText(value.kind) && isText(value.occurred_at) && isText(value.actor);
}

/** Returns whether the text is 32 bytes in canonical base64url. */
function is32Bytes(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === text;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
