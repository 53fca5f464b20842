/** The public log entries about the periods of keys. The entries are untrusted until checked with `verifyInclusion`. */
import { type Exact, hex, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { fetchList } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';
import { type LogLeaf, readLeaf } from './verify.ts';

/** Maximum pages of 1000 entries: 50 years of daily rotations. */
const maxPages = 40;

/** A `key.rotated` entry of a tree-head key. */
export interface Rotation {
  readonly leaf: LogLeaf;
  /** Time of the rotation, ISO 8601. */
  readonly at: string;
  readonly oldKid: string;
  readonly newKid: string;
  /** SHA-256 of the raw public key, lowercase hex. */
  readonly newFingerprint: string;
}

/** A `key.retired` or `key.revoked` entry. */
export interface Ending {
  readonly leaf: LogLeaf;
  /** Time of the ending, ISO 8601. */
  readonly at: string;
  readonly kid: string;
  readonly state: 'retired' | 'revoked';
  /** Size of the largest tree whose head the key signed. */
  readonly toSize: number;
}

/** A `log.life_started` entry. */
export interface LifeStart {
  readonly leaf: LogLeaf;
  readonly reason: string;
  /** The last head of the previous life, according to the entry. */
  readonly previous?: SignedHead;
  /** Size of the tree that the new life continues. */
  readonly continuesFrom?: number;
  /** Keys of the new life. */
  readonly keys: readonly { readonly purpose: string; readonly kid: string; readonly fingerprint: string }[];
}

export interface KeyHistory {
  /** Rotations by id of the new key. */
  readonly rotations: ReadonlyMap<string, Rotation>;
  /** Endings by id of the key, oldest first. */
  readonly endings: ReadonlyMap<string, readonly Ending[]>;
  readonly lives: readonly LifeStart[];
}

/** Fetches the complete key history. Needs no token. */
export async function fetchKeyHistory(log: LogSource): Promise<KeyHistory | AuditFault> {
  const items = await fetchList(log, '/api/transparency/key-history', maxPages);
  if (items instanceof AuditFault) return items;
  const rotations = new Map<string, Rotation>();
  const endings = new Map<string, Ending[]>();
  const lives: LifeStart[] = [];
  for (const item of items) {
    const leaf = readLeaf(item);
    if (leaf instanceof AuditFault) return leaf;
    const rotation = readRotation(leaf);
    if (rotation !== undefined) rotations.set(rotation.newKid, rotation);
    const ending = readEnding(leaf);
    if (ending !== undefined) endings.set(ending.kid, [...(endings.get(ending.kid) ?? []), ending]);
    const life = readLifeStart(leaf);
    if (life !== undefined) lives.push(life);
  }
  return { rotations, endings, lives };
}

/** Reads a rotation from the canonical bytes of a leaf; undefined for any other entry. */
export function readRotation(leaf: LogLeaf): Rotation | undefined {
  const { kind, at, data } = readFields(leaf);
  const [oldKid, newKid] = [string(data?.old_kid), string(data?.new_kid)];
  const newFingerprint = string(data?.new_fingerprint);
  if (kind !== 'key.rotated' || data?.purpose !== 'transparency-sth' || at === undefined) return undefined;
  if (oldKid === undefined || newKid === undefined || newFingerprint === undefined) return undefined;
  return { leaf, at, oldKid, newKid, newFingerprint };
}

function readEnding(leaf: LogLeaf): Ending | undefined {
  const { kind, at, data, subject } = readFields(leaf);
  const kid = string(subject?.id);
  if ((kind !== 'key.retired' && kind !== 'key.revoked') || kid === undefined || at === undefined) return undefined;
  // Without `to_size`, the key ended before the tree with this entry, because no key signs a head that covers its own
  // revocation.
  const toSize = safeInteger(data?.to_size) ?? leaf.leafIndex;
  return { leaf, at, kid, state: kind === 'key.retired' ? 'retired' : 'revoked', toSize };
}

function readLifeStart(leaf: LogLeaf): LifeStart | undefined {
  const { kind, data } = readFields(leaf);
  if (kind !== 'log.life_started' || !Array.isArray(data?.keys)) return undefined;
  const previous = readLoggedHead(members(data.previous)?.head);
  const continuesFrom = safeInteger(members(data.continues_from)?.tree_size);
  const keys = data.keys.flatMap((item) => {
    const key = members(item);
    const [purpose, kid] = [string(key?.purpose), string(key?.kid)];
    const fingerprint = string(key?.fingerprint);
    return purpose === undefined || kid === undefined || fingerprint === undefined
      ? []
      : [{ purpose, kid, fingerprint }];
  });
  return {
    leaf,
    keys,
    reason: string(data.reason) ?? 'unknown',
    ...(previous && { previous }),
    ...(continuesFrom !== undefined && { continuesFrom }),
  };
}

/**
 * Returns the head in an entry; undefined if it is not valid. Entries hold the timestamp of a head as decimal text,
 * because a double would round it.
 */
function readLoggedHead(json: Exact | undefined): SignedHead | undefined {
  const fields = members(json);
  const digits = string(fields?.timestamp_ns);
  const exact =
    digits !== undefined && /^[0-9]{1,20}$/.test(digits) ? { ...fields, timestamp_ns: BigInt(digits) } : json;
  const head = readTreeHead(exact as Exact | undefined);
  return head instanceof AuditFault || hex(fields?.root_hash, 32) === undefined ? undefined : head;
}

function readFields(leaf: LogLeaf) {
  const entry = members(parseExact(new TextDecoder().decode(leaf.canonical)));
  const at = string(entry?.occurred_at);
  return {
    kind: string(entry?.kind),
    at: at !== undefined && Number.isFinite(Date.parse(at)) ? at : undefined,
    subject: members(entry?.subject),
    data: members(entry?.data),
  };
}
