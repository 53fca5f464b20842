import { type CheckpointPolicy, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { members, parseExact } from './exact-json.ts';
import { Fault, type FaultCode } from './fault.ts';
import { type KeySet, type LogKey, parseKeySet, readKeySet } from './key-set.ts';
import type { LogSource } from './log-source.ts';
import { parseTreeHead, type SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

/** A head with the key that signed it, and the key set in which that was found. */
export interface HeadWithKeys {
  readonly head: SignedHead;
  readonly keys: KeySet;
  readonly key: LogKey;
}

/**
 * The latest head, its signature verified. Where its key isn't good for it, both are asked for once more, past caches:
 * a key may have been revoked between the two answers, or one of them is an old one.
 */
export async function fetchHead(log: LogSource): Promise<HeadWithKeys | Fault> {
  const signed = await fetchSigned(log);
  return signed instanceof Fault && changingKeys.has(signed.code)
    ? fetchSigned(log.pastCaches?.() ?? log)
    : signed;
}

const changingKeys: ReadonlySet<FaultCode> = new Set([
  'UNKNOWN_KEY',
  'KEY_PENDING',
  'KEY_REVOKED',
  'KEY_OUT_OF_RANGE',
]);

async function fetchSigned(log: LogSource): Promise<HeadWithKeys | Fault> {
  const text = await log.get('/api/transparency/sth');
  if (text instanceof Fault) return text;
  const head = parseTreeHead(text);
  if (head instanceof Fault) return head;
  // After the head, so that a key that took over in between is in the set.
  const keys = await fetchKeys(log);
  if (keys instanceof Fault) return keys;
  const key = verifyHead(head, keys);
  return key instanceof Fault ? key : { head, keys, key };
}

export async function fetchKeys(log: LogSource): Promise<KeySet | Fault> {
  const text = await log.get('/.well-known/jwks.json');
  return text instanceof Fault ? text : parseKeySet(text);
}

/** Keys on one page of all keys, and pages at most: a daily key for 2,700 years. */
const keysPerPage = 1000;
const maxKeyPages = 1000;

/** Every public key that the log ever used, as it publishes them now. */
export async function fetchAllKeys(log: LogSource): Promise<KeySet | Fault> {
  const all = new Map<string, LogKey>();
  for (let page = 1; page <= maxKeyPages; page++) {
    const text = await log.get(`/api/transparency/keys?page=${page}&per_page=${keysPerPage}`);
    if (text instanceof Fault) return text;
    const { data, pagination } = members(parseExact(text)) ?? {};
    if (!Array.isArray(data)) return new Fault('MALFORMED_KEYS', 'the page of keys has no data');
    const keys = readKeySet(data.map((item) => members(item)?.attributes ?? null));
    if (keys instanceof Fault) return keys;
    for (const [kid, key] of keys) all.set(kid, key);
    if (members(pagination)?.has_next !== true) break;
  }
  return all;
}

/** The latest checkpoint, its signatures verified. */
export async function fetchCheckpoint(
  log: LogSource,
  keys: KeySet,
  policy: CheckpointPolicy = {},
): Promise<SignedCheckpoint | Fault> {
  const bytes = await log.getBytes('/checkpoint');
  if (bytes instanceof Fault) return bytes;
  const note = decodeNote(bytes);
  return note instanceof Fault ? note : verifyCheckpoint(note, keys, policy);
}

/** The text of a note, nothing replaced and nothing skipped. */
export function decodeNote(bytes: Uint8Array): string | Fault {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new Fault('MALFORMED_CHECKPOINT', 'the checkpoint is not in UTF-8');
  }
}
