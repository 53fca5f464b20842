import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, leafHash } from '../tlog/tree.ts';
import { members, parseExact, safeInteger } from './exact-json.ts';
import { Fault } from './fault.ts';
import { type KeySet, type LogKey, parseKeySet, writeKeySet } from './key-set.ts';
import { EmptyLog, type LogSource } from './log-source.ts';
import { changedKey, type Pin } from './pin.ts';
import { sha256 } from './sha256.ts';
import { parseTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
import {
  readLeaf,
  readPath,
  type VerifiedEntry,
  verifyBundle,
  verifyConsistency,
  verifyHead,
} from './verify.ts';

export type { Pin } from './pin.ts';

export interface AuditOptions {
  /** The auditor's own clock, epoch milliseconds. */
  readonly now: number;
  /** A head older than this is a fault. An idle log signs anew every hour. Default: no limit. */
  readonly maxAgeMs?: number;
}

export type AuditResult =
  /** No entry yet, and none expected. */
  | { readonly status: 'empty' }
  /** The first head of a log; `pin` is to be kept. */
  | { readonly status: 'pinned'; readonly pin: Pin; readonly key: LogKey; readonly keys: KeySet }
  /** The same tree as pinned (perhaps signed anew), or one that provably extends it from size `from`. */
  | {
      readonly status: 'unchanged' | 'extended';
      readonly from: number;
      readonly pin: Pin;
      readonly key: LogKey;
      readonly keys: KeySet;
    }
  /** The pin stays as it is. `evidence` (JSON) where two signed heads contradict each other. */
  | { readonly status: 'fault'; readonly fault: Fault; readonly evidence?: string };

/** Clocks of honest machines differ by less. */
const clockToleranceMs = 5 * 60_000;

/** Fetches the head, checks its signature and its consistency with the pin. Never throws for what a log answers. */
export async function audit(
  log: LogSource,
  pin: Pin | undefined,
  options: AuditOptions,
): Promise<AuditResult> {
  if (pin !== undefined && pin.log !== log.url) {
    return fault(new Fault('OTHER_LOG', `the pin is of ${pin.log}, not of ${log.url}`));
  }
  const signed = await fetchHead(log);
  if (signed instanceof EmptyLog) return pin === undefined ? { status: 'empty' } : fault(emptied(pin));
  if (signed instanceof Fault) return fault(signed);
  const { head, keys, key } = signed;

  const late = outOfTime(head, options);
  if (pin === undefined) {
    if (late !== undefined) return fault(late);
    return { status: 'pinned', key, keys, pin: pinOf(log, head, keys, options.now) };
  }
  // Its age excuses nothing: a log that was rolled back shows an old head.
  const changed = changedKey(pin, keys);
  if (changed !== undefined) return fault(changed, evidence(changed, pin, head, keys));
  const against = await compare(log, pin.head, head);
  if (against instanceof Fault) {
    return against.kind === 'misbehaviour'
      ? fault(against, evidence(against, pin, head, keys))
      : fault(against);
  }
  if (against?.fault !== undefined) {
    return fault(against.fault, evidence(against.fault, pin, head, keys, against.proof));
  }
  if (late !== undefined) return fault(late);
  const status = head.size === pin.head.size ? 'unchanged' : 'extended';
  const next = { ...pinOf(log, head, keys, options.now), pinnedAt: pin.pinnedAt };
  return { status, from: pin.head.size, key, keys, pin: next };
}

/** The latest head with the key that signed it. */
export async function fetchHead(
  log: LogSource,
): Promise<{ head: SignedHead; keys: KeySet; key: LogKey } | Fault> {
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

async function fetchKeys(log: LogSource): Promise<KeySet | Fault> {
  const text = await log.get('/.well-known/jwks.json');
  return text instanceof Fault ? text : parseKeySet(text);
}

/** Proof that one size extends the other, as the log tells it: the text, and its hashes where they are well-formed. */
async function fetchConsistency(
  log: LogSource,
  first: number,
  second: number,
): Promise<{ text: string; path: Uint8Array[] } | Fault> {
  const text = await log.get(`/api/transparency/consistency?first=${first}&second=${second}`);
  if (text instanceof Fault) return text;
  const fields = members(parseExact(text));
  const sizes = [fields?.first_size, fields?.second_size, fields?.tree_size].map(safeInteger);
  if (sizes[0] !== first || sizes[1] !== second || sizes[2] !== second) {
    return new Fault(
      'MALFORMED_PROOF',
      `wanted a proof from ${first} to ${second}, came ${sizes[0]} to ${sizes[1]}`,
    );
  }
  const path = readPath(fields?.audit_path);
  return path instanceof Fault ? path : { text, path };
}

/** Which entry: its position, its id, or its bytes. */
export type EntryQuery =
  | { readonly leafIndex: number }
  | { readonly entryId: string }
  | { readonly canonical: Uint8Array };

/** What verified, with the proof that showed it. */
export type ProvenEntry = VerifiedEntry & {
  readonly path: readonly Uint8Array[];
  readonly canonical: Uint8Array;
};

/**
 * Fetches the proof of an entry against this head and verifies all of it. Where the caller doesn't hold the entry's
 * bytes, they are fetched too, which needs a role.
 */
export async function proveEntry(
  log: LogSource,
  query: EntryQuery,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
): Promise<ProvenEntry | Fault> {
  const { head, keys } = signed;
  const which = parameterOf(query);
  const proof = await log.get(`/api/transparency/inclusion?${which}&tree_size=${head.size}`);
  if (proof instanceof Fault) return proof;
  const fields = members(parseExact(proof));
  const leafIndex = safeInteger(fields?.leaf_index);
  const asked = 'leafIndex' in query ? query.leafIndex : leafIndex;
  if (leafIndex === undefined || leafIndex !== asked || safeInteger(fields?.tree_size) !== head.size) {
    return new Fault('MALFORMED_PROOF', `wanted a proof for ${which} in size ${head.size}, came another one`);
  }
  const path = readPath(fields?.audit_path);
  if (path instanceof Fault) return path;

  const canonical = 'canonical' in query ? query.canonical : await fetchCanonical(log, leafIndex);
  if (canonical instanceof Fault) return canonical;
  const verified = verifyBundle({ leaf: { leafIndex, canonical }, path, head, keys });
  if (verified instanceof Fault) return verified;
  if ('entryId' in query && verified.entry.id !== query.entryId) {
    return new Fault('WRONG_LEAF', `wanted entry ${query.entryId}, came ${verified.entry.id}`);
  }
  return { ...verified, path, canonical };
}

function parameterOf(query: EntryQuery): string {
  if ('leafIndex' in query) return `leaf_index=${query.leafIndex}`;
  if ('entryId' in query) return `entry_id=${query.entryId}`;
  return `leaf_hash=${bytesToHex(leafHash(sha256, query.canonical))}`;
}

async function fetchCanonical(log: LogSource, leafIndex: number): Promise<Uint8Array | Fault> {
  const text = await log.get(`/api/transparency/leaf?leaf_index=${leafIndex}`);
  if (text instanceof Fault) return text;
  const leaf = readLeaf(parseExact(text));
  if (leaf instanceof Fault) return leaf;
  if (leaf.leafIndex === leafIndex) return leaf.canonical;
  return new Fault('WRONG_LEAF', `wanted leaf ${leafIndex}, came ${leaf.leafIndex}`);
}

/** Whether `head` may follow `pinned`: undefined if so. */
export async function compare(
  log: LogSource,
  pinned: SignedHead,
  head: SignedHead,
): Promise<Fault | { fault: Fault; proof: string } | undefined> {
  if (head.size < pinned.size)
    return new Fault('ROLLBACK', `the log had ${pinned.size} entries and has ${head.size} now`);
  if (head.size === pinned.size && !equalHashes(head.root, pinned.root)) {
    return new Fault('FORK', `two roots are signed for size ${head.size}`);
  }
  if (head.size > pinned.size) {
    const proof = await fetchConsistency(log, pinned.size, head.size);
    if (proof instanceof Fault) return proof;
    const failed = verifyConsistency(pinned, head, proof.path);
    if (failed !== undefined) return { fault: failed, proof: proof.text };
  }
  const elapsed = head.timestampNs - pinned.timestampNs;
  if (elapsed > 0n || (elapsed === 0n && head.size === pinned.size)) return undefined;
  const times = `${head.timestampNs} ns, not after the ${pinned.timestampNs} ns of size ${pinned.size}`;
  return new Fault('TIME_WENT_BACK', `the head of size ${head.size} is dated ${times}`);
}

function outOfTime(head: SignedHead, { now, maxAgeMs }: AuditOptions): Fault | undefined {
  const ageMs = now - Number(head.timestampNs / 1_000_000n);
  if (ageMs < -clockToleranceMs)
    return new Fault('HEAD_FROM_FUTURE', `the head is dated ${-ageMs} ms from now`);
  if (maxAgeMs === undefined || ageMs <= maxAgeMs) return undefined;
  return new Fault('STALE_HEAD', `the head is ${ageMs} ms old, ${maxAgeMs} ms are allowed`);
}

function pinOf(log: LogSource, head: SignedHead, keys: KeySet, now: number): Pin {
  const at = new Date(now).toISOString();
  const seen = Object.fromEntries([...keys.values()].map((key) => [key.kid, key.x]));
  return { log: log.url, head, keys: seen, pinnedAt: at, updatedAt: at };
}

/** Both heads, the keys and the failing proof: whoever holds it can convict the log without the log. */
function evidence(found: Fault, pin: Pin, head: SignedHead, keys: KeySet, proof?: string): string {
  const { code, message } = found;
  const about = JSON.stringify({
    code,
    message,
    log: pin.log,
    pinned_at: pin.updatedAt,
    pinned_keys: pin.keys,
  });
  const heads = `"pinned_head":${writeTreeHead(pin.head)},"head":${writeTreeHead(head)}`;
  const shown = proof === undefined ? '' : `,"consistency_proof":${proof}`;
  return `{${about.slice(1, -1)},${heads},"keys":${writeKeySet(keys.values()).slice('{"keys":'.length, -1)}${shown}}\n`;
}

function emptied(pin: Pin): Fault {
  return new Fault('ROLLBACK', `the log had ${pin.head.size} entries and says that it has none now`);
}

function fault(found: Fault, shown?: string): AuditResult {
  return shown === undefined
    ? { status: 'fault', fault: found }
    : { status: 'fault', fault: found, evidence: shown };
}
