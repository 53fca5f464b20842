/**
 * Key sets are not signed, so a proxy can add keys of its own. Signed entries of the log decide which key to trust: when a
 * key takes over, the old key signs a head that covers the entry (`key.rotated`) that names the new key. These links
 * lead from a trusted key to the key of the latest head. A revoked key vouches for no successor.
 */

import type { Hash } from '../tlog/tree.ts';
import { members, parseExact } from './exact-json.ts';
import { Fault } from './fault.ts';
import { type KeyHistory, type Rotation, readRotation } from './key-history.ts';
import { fingerprint, type KeySet, type LogKey } from './key-set.ts';
import { fetchPage } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';
import { type LogLeaf, readPath, verifyHead, verifyInclusion } from './verify.ts';

/** Fifty years of weekly rotations. */
export const maxLinks = 3000;

/** One rotation, with the head of the old key that covers its entry. */
export interface KeyLink {
  readonly leaf: LogLeaf;
  readonly path: readonly Hash[];
  readonly head: SignedHead;
}

/** Keys that a chain of links leads to, together with the roots. */
export interface KeyChain {
  readonly links: readonly KeyLink[];
  readonly trusted: KeySet;
}

/**
 * The key that a link vouches for, with the beginning of its period from the entry. `candidates` gives its public
 * value, which must have the fingerprint that the entry names.
 */
export function followLink(link: KeyLink, trusted: KeySet, candidates: KeySet): LogKey | Fault {
  const rotation = readRotation(link.leaf);
  if (rotation === undefined)
    return new Fault('UNVOUCHED_KEY', `entry ${link.leaf.leafIndex} is not a rotation of a tree-head key`);
  const old = verifyHead(link.head, trusted);
  if (old instanceof Fault) return old;
  const included = verifyInclusion(link.leaf, link.path, link.head);
  if (included instanceof Fault) return included;
  const key = candidates.get(rotation.newKid);
  if (old.kid !== rotation.oldKid || key === undefined || fingerprint(key) !== rotation.newFingerprint)
    return new Fault('UNVOUCHED_KEY', `entry ${link.leaf.leafIndex} names other keys than the ones in use`);
  const { kid, x, publicKey } = key;
  const period = { fromSize: link.leaf.leafIndex + 1, toSize: undefined, notBefore: rotation.at };
  const life = old.life === undefined ? {} : { life: old.life };
  return { kid, x, publicKey, purpose: 'transparency-sth', state: 'active', ...period, ...life };
}

/**
 * The roots and all keys that the links lead to, up to the first link that does not hold. The thief of a key that has ended
 * can date a link back, so `isProven` decides whether a link by such a key counts.
 */
export function followLinks(
  links: readonly KeyLink[],
  roots: KeySet,
  candidates: KeySet,
  isProven: (head: SignedHead, key: LogKey) => boolean,
): KeySet {
  const trusted = new Map(roots);
  for (const link of links) {
    const key = followLink(link, trusted, candidates);
    if (key instanceof Fault) break;
    // Facts known about a root, above all its end, take precedence.
    if (trusted.has(key.kid)) continue;
    const by = trusted.get(link.head.signerKeyId)!;
    if (by.state !== 'active' && !isProven(link.head, by)) break;
    trusted.set(key.kid, key);
  }
  return trusted;
}

/** Fetches and verifies the links from one of `roots` to `key`. UNVOUCHED_KEY when there is no such chain. */
export async function fetchChain(
  log: LogSource,
  roots: KeySet,
  key: LogKey,
  published: KeySet,
  history: KeyHistory,
): Promise<KeyChain | Fault> {
  const rotations = rotationsTo(key, roots, published, history);
  if (rotations instanceof Fault) return rotations;
  const links: KeyLink[] = [];
  const trusted = new Map(roots);
  for (const rotation of rotations) {
    const link = await fetchLink(log, rotation, key);
    if (link instanceof Fault) return link;
    const next = followLink(link, trusted, published);
    if (next instanceof Fault) return next;
    links.push(link);
    trusted.set(next.kid, next);
  }
  return { links, trusted };
}

/** The rotations between a root and the key, oldest first. */
function rotationsTo(
  key: LogKey,
  roots: KeySet,
  published: KeySet,
  { rotations }: KeyHistory,
): Rotation[] | Fault {
  const found: Rotation[] = [];
  for (let at = key; found.length < maxLinks; ) {
    const rotation = rotations.get(at.kid);
    if (rotation === undefined) return unvouched(key, `no entry of kind key.rotated names key ${at.kid}`);
    if (rotation.newFingerprint !== fingerprint(at))
      return unvouched(key, `entry ${rotation.leaf.leafIndex} names key ${at.kid} with another fingerprint`);
    found.unshift(rotation);
    if (roots.has(rotation.oldKid)) return found;
    const old = published.get(rotation.oldKid);
    if (old === undefined) return unvouched(key, `key ${rotation.oldKid} before it is not published`);
    at = old;
  }
  return unvouched(key, `it is more than ${maxLinks} rotations away`);
}

/** The first head of the old key that covers the entry, and the path to it. */
async function fetchLink(log: LogSource, { leaf, oldKid }: Rotation, key: LogKey): Promise<KeyLink | Fault> {
  const list = await fetchPage(log, `/api/transparency/sths?from_size=${leaf.leafIndex + 1}`, 1);
  if (list instanceof Fault) return list;
  for (const item of list.items) {
    const head = readTreeHead(item);
    if (head instanceof Fault) return head;
    if (head.signerKeyId !== oldKid) continue;
    const path = await fetchPath(log, leaf.leafIndex, head.size);
    return path instanceof Fault ? path : { leaf, path, head };
  }
  return unvouched(key, `no head of key ${oldKid} covers entry ${leaf.leafIndex}`);
}

async function fetchPath(log: LogSource, leafIndex: number, size: number): Promise<Hash[] | Fault> {
  const text = await log.get(`/api/transparency/inclusion?leaf_index=${leafIndex}&tree_size=${size}`);
  return text instanceof Fault ? text : readPath(members(parseExact(text))?.audit_path);
}

/** Whether the tree of the head has this leaf, by a path that the log is asked for. */
export async function proveLeaf(log: LogSource, leaf: LogLeaf, head: SignedHead): Promise<Fault | undefined> {
  const path = await fetchPath(log, leaf.leafIndex, head.size);
  if (path instanceof Fault) return path;
  const included = verifyInclusion(leaf, path, head);
  return included instanceof Fault ? included : undefined;
}

/**
 * The trusted keys with the ends that the log told in entries under `head`, which must be trusted. A key keeps the
 * first end that it got.
 */
export async function withEndings(
  log: LogSource,
  trusted: KeySet,
  head: SignedHead,
  { endings }: KeyHistory,
): Promise<KeySet | Fault> {
  const keys = new Map(trusted);
  for (const key of trusted.values()) {
    const all = endings.get(key.kid)?.filter(({ leaf }) => leaf.leafIndex < head.size) ?? [];
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined || key.state === last.state) continue;
    for (const { leaf } of new Set([first, last])) {
      const failed = await proveLeaf(log, leaf, head);
      if (failed !== undefined) return failed;
    }
    const end = { toSize: key.toSize ?? first.toSize, notAfter: key.notAfter ?? first.at };
    const revoked = last.state === 'revoked' ? { revokedAt: last.at } : {};
    keys.set(key.kid, { ...key, ...end, ...revoked, state: last.state });
  }
  return keys;
}

/** Whether the end of an ended tree-head or checkpoint key is still to be learned. */
export function lacksEndings(keys: KeySet, head: SignedHead): boolean {
  const active = [...keys.values()].filter(({ state }) => state === 'active');
  const checkpoints = active.filter(({ purpose }) => purpose === 'checkpoint');
  return (
    checkpoints.length > 1 ||
    active.some(({ kid, purpose }) => purpose === 'transparency-sth' && kid !== head.signerKeyId)
  );
}

function unvouched(key: LogKey, reason: string): Fault {
  return new Fault(
    'UNVOUCHED_KEY',
    `the head is signed by key ${key.kid} (fingerprint ${fingerprint(key)}), which no pinned key vouches for: ${reason}`,
  );
}
