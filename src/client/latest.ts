import { type CheckpointPolicy, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { AuditFault, type FaultCode } from './fault.ts';
import { type KeySet, type LogKey, parseKeySet, readKeySet } from './key-set.ts';
import { fetchList } from './list-page.ts';
import { type LogSource, NotFound } from './log-source.ts';
import { parseTreeHead, type SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

/** A head with its signer, and the key set that contains the signer. */
export interface HeadWithKeys {
  readonly head: SignedHead;
  readonly keys: KeySet;
  readonly key: LogKey;
}

/**
 * Fetches the latest head and verifies its signature. If the signer can't have signed it, head and keys are fetched
 * once more, bypassing caches. The key may have been revoked between the two responses, or a response may be outdated.
 */
export async function fetchHead(log: LogSource): Promise<HeadWithKeys | AuditFault> {
  const signed = await fetchSigned(log);
  return signed instanceof AuditFault && changingKeys.has(signed.code)
    ? fetchSigned(log.pastCaches?.() ?? log)
    : signed;
}

/** Maximum pages of 1000 keys: 50 years of daily rotations. */
const maxKeyPages = 20;

const changingKeys: ReadonlySet<FaultCode> = new Set(['UNKNOWN_KEY', 'KEY_PENDING', 'KEY_REVOKED', 'KEY_OUT_OF_RANGE']);

async function fetchSigned(log: LogSource): Promise<HeadWithKeys | AuditFault> {
  const head = await fetchTreeHead(log);
  return head instanceof AuditFault ? head : withPublishedKey(log, head);
}

/** Fetches the latest head without verifying it. */
export async function fetchTreeHead(log: LogSource): Promise<SignedHead | AuditFault> {
  const text = await log.get('/api/transparency/sth');
  return text instanceof AuditFault ? text : parseTreeHead(text);
}

/** Verifies the head with the published key that signed it: a current key, or one in the pages of all keys. */
export async function withPublishedKey(log: LogSource, head: SignedHead): Promise<HeadWithKeys | AuditFault> {
  // Keys are fetched after the head, so that a key that took over in between is in the set.
  const current = await fetchKeys(log);
  if (current instanceof AuditFault) return current;
  const keys = current.has(head.signerKeyId) ? current : await fetchAllKeys(log, current);
  if (keys instanceof AuditFault) return keys;
  const key = verifyHead(head, keys);
  return key instanceof AuditFault ? key : { head, keys, key };
}

/** Fetches the current keys from /.well-known/jwks.json. */
export async function fetchKeys(log: LogSource): Promise<KeySet | AuditFault> {
  const text = await log.get('/.well-known/jwks.json');
  return text instanceof AuditFault ? text : parseKeySet(text);
}

/** Fetches all keys that the log ever used: the current keys, unless given, and the pages of keys, if served. */
export async function fetchAllKeys(log: LogSource, current?: KeySet): Promise<KeySet | AuditFault> {
  const known = current ?? (await fetchKeys(log));
  if (known instanceof AuditFault) return known;
  const items = await fetchList(log, '/api/transparency/keys', maxKeyPages);
  if (items instanceof NotFound) return known;
  if (items instanceof AuditFault) return items;
  const all = readKeySet(items.map((item) => item ?? null));
  // Current keys take precedence: they were fetched bypassing caches if required.
  return all instanceof AuditFault ? all : new Map([...all, ...known]);
}

/** Fetches the latest checkpoint and verifies its signatures. */
export async function fetchCheckpoint(
  log: LogSource,
  keys: KeySet,
  policy: CheckpointPolicy = {},
): Promise<SignedCheckpoint | AuditFault> {
  const bytes = await log.getBytes('/checkpoint');
  if (bytes instanceof AuditFault) return bytes;
  const note = decodeNote(bytes);
  return note instanceof AuditFault ? note : verifyCheckpoint(note, keys, policy);
}

/** Decodes the text of a note without replacing or skipping bytes. */
export function decodeNote(bytes: Uint8Array): string | AuditFault {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new AuditFault('MALFORMED_CHECKPOINT', 'the checkpoint is not valid UTF-8');
  }
}
