/**
 * Key sets are not signed: whoever stands between an auditor and a log can put a key of his own into one. What the log
 * signed before is the way out: when a key takes over, the old one signs a head that covers the entry which names the
 * new one (kind `key.rotated`). From the key of the pinned head this leads, rotation by rotation, to the key of today's.
 *
 * A revoked key names nobody: its successor is believed on the operator's word alone.
 */
import { type Exact, members, parseExact, safeInteger, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { fingerprint, type KeySet, type LogKey } from './key-set.ts';
import type { HeadWithKeys } from './latest.ts';
import type { LogSource } from './log-source.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';
import { type LogLeaf, readLeaf, readPath, verifyHead, verifyInclusion } from './verify.ts';

/** Fifty years of daily and weekly rotations, and of weekly ones alone: past it a log is asked no further. */
const maxPages = 20;
const perPage = 1000;
const maxRotations = 3000;

interface Rotation {
  readonly leaf: LogLeaf;
  readonly oldKid: string;
  readonly newKid: string;
  readonly newFingerprint: string;
}

/** Undefined where the key of the head provably took over from `pinned`, the key that signed the pinned head. */
export async function checkSuccession(
  log: LogSource,
  pinned: LogKey,
  { keys, key }: HeadWithKeys,
): Promise<Fault | undefined> {
  const rotations = await fetchRotations(log);
  if (rotations instanceof Fault) return rotations;
  let successor = key;
  for (let step = 0; step < maxRotations; step++) {
    const old = await predecessor(log, successor, rotations, keys);
    if (old instanceof Fault) return old;
    if (old.kid === pinned.kid && old.x === pinned.x) return undefined;
    successor = old;
  }
  return unvouched(key, `it is more than ${maxRotations} rotations away`);
}

/** The key that signed a head which covers the naming of this one. */
async function predecessor(
  log: LogSource,
  key: LogKey,
  rotations: ReadonlyMap<string, Rotation>,
  keys: KeySet,
): Promise<LogKey | Fault> {
  const rotation = rotations.get(key.kid);
  if (rotation === undefined) return unvouched(key, 'no entry of kind key.rotated names it');
  if (rotation.newFingerprint !== fingerprint(key)) {
    return unvouched(key, `entry ${rotation.leaf.leafIndex} names one of this id with another fingerprint`);
  }
  const head = await headBy(log, rotation.oldKid, rotation.leaf.leafIndex + 1, keys);
  if (head instanceof Fault) return head;
  if (head === undefined) {
    return unvouched(
      key,
      `no head that key ${rotation.oldKid} signed covers entry ${rotation.leaf.leafIndex}`,
    );
  }
  const path = await fetchPath(log, rotation.leaf.leafIndex, head.size);
  if (path instanceof Fault) return path;
  const included = verifyInclusion(rotation.leaf, path, head);
  return included instanceof Fault ? included : keys.get(rotation.oldKid)!;
}

/** By the id of the new key; of tree heads only. */
async function fetchRotations(log: LogSource): Promise<ReadonlyMap<string, Rotation> | Fault> {
  const found = new Map<string, Rotation>();
  for (let page = 1; page <= maxPages; page++) {
    const text = await log.get(`/api/transparency/entries?kind=key.rotated&page=${page}&per_page=${perPage}`);
    if (text instanceof Fault) return text;
    const list = readList(text);
    if (list instanceof Fault) return list;
    for (const item of list.items) {
      const leaf = readLeaf(item);
      if (leaf instanceof Fault) return leaf;
      const rotation = rotationOf(leaf);
      if (rotation !== undefined) found.set(rotation.newKid, rotation);
    }
    if (list.isLast) break;
  }
  return found;
}

/** What the bytes say that are proved later, not what stands beside them. */
function rotationOf(leaf: LogLeaf): Rotation | undefined {
  const entry = members(parseExact(new TextDecoder().decode(leaf.canonical)));
  const data = members(entry?.data);
  const [oldKid, newKid] = [string(data?.old_kid), string(data?.new_kid)];
  const newFingerprint = string(data?.new_fingerprint);
  if (entry?.kind !== 'key.rotated' || data?.purpose !== 'transparency-sth') return undefined;
  if (oldKid === undefined || newKid === undefined || newFingerprint === undefined) return undefined;
  return { leaf, oldKid, newKid, newFingerprint };
}

/** The first head from this size on; it is the old key's, which signed what covers its successor's naming. */
async function headBy(
  log: LogSource,
  kid: string,
  fromSize: number,
  keys: KeySet,
): Promise<SignedHead | undefined | Fault> {
  const text = await log.get(`/api/transparency/sths?from_size=${fromSize}&per_page=50`);
  if (text instanceof Fault) return text;
  const list = readList(text);
  if (list instanceof Fault) return list;
  for (const item of list.items) {
    const head = readTreeHead(item);
    if (head instanceof Fault) return head;
    if (head.signerKeyId !== kid) continue;
    const key = verifyHead(head, keys);
    return key instanceof Fault ? key : head;
  }
  return undefined;
}

async function fetchPath(log: LogSource, leafIndex: number, size: number): Promise<Uint8Array[] | Fault> {
  const text = await log.get(`/api/transparency/inclusion?leaf_index=${leafIndex}&tree_size=${size}`);
  return text instanceof Fault ? text : readPath(members(parseExact(text))?.audit_path);
}

/** The attributes of a page of a list. */
function readList(text: string): { items: (Exact | undefined)[]; isLast: boolean } | Fault {
  const fields = members(parseExact(text));
  const pages = safeInteger(members(fields?.pagination)?.total_pages);
  const page = safeInteger(members(fields?.pagination)?.page);
  if (!Array.isArray(fields?.data) || pages === undefined || page === undefined)
    return new Fault('MALFORMED_LEAF', 'the answer is no page of a list');
  return { items: fields.data.map((item) => members(item)?.attributes), isLast: page >= pages };
}

function unvouched(key: LogKey, reason: string): Fault {
  return new Fault('UNVOUCHED_KEY', `key ${key.kid} signs the head and not the pinned one: ${reason}`);
}
