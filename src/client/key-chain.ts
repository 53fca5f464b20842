/**
 * Key sets are not signed, so a proxy can add its own keys. Signed entries of the log determine which keys to
 * trust: at a rotation, the old key signs a head that covers the entry (`key.rotated`) naming the new key.
 * These links connect a trusted key with the signer of the latest head. A revoked key cannot authorise a
 * successor.
 */

import type { Hash } from '../tlog/tree.ts';
import { members, parseExact } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { type KeyHistory, type Rotation, readRotation } from './key-history.ts';
import { fingerprint, type KeySet, type LogKey } from './key-set.ts';
import { fetchPage } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';
import { type LogLeaf, readPath, verifyHead, verifyInclusion } from './verify.ts';

/** Maximum links in a chain: 50 years of weekly rotations. */
export const maxLinks = 3000;

/** A rotation, with a head of the old key that covers its entry. */
export interface KeyLink {
  readonly leaf: LogLeaf;
  readonly path: readonly Hash[];
  readonly head: SignedHead;
}

/** The keys that a chain of links authorises, together with the roots. */
export interface KeyChain {
  readonly links: readonly KeyLink[];
  readonly trusted: KeySet;
}

/**
 * Returns the key that a link authorises. The key's period starts with the tree that includes the entry. `candidates`
 * provides the key's public value, which must match the fingerprint in the entry.
 */
export function followLink(link: KeyLink, trusted: KeySet, candidates: KeySet): LogKey | AuditFault {
  const rotation = readRotation(link.leaf);
  if (rotation === undefined)
    return new AuditFault('UNVOUCHED_KEY', `entry ${link.leaf.leafIndex} is not a rotation of a tree-head key`);
  const old = verifyHead(link.head, trusted);
  if (old instanceof AuditFault) return old;
  const included = verifyInclusion(link.leaf, link.path, link.head);
  if (included instanceof AuditFault) return included;
  const key = candidates.get(rotation.newKid);
  if (old.kid !== rotation.oldKid || key === undefined || fingerprint(key) !== rotation.newFingerprint)
    return new AuditFault('UNVOUCHED_KEY', `entry ${link.leaf.leafIndex} names keys other than those in use`);
  const { kid, x, publicKey } = key;
  const period = { fromSize: link.leaf.leafIndex + 1, toSize: undefined, notBefore: rotation.at };
  const life = old.life === undefined ? {} : { life: old.life };
  return { kid, x, publicKey, purpose: 'transparency-sth', state: 'active', ...period, ...life };
}

/**
 * Returns the roots and all keys that the links authorise, up to the first invalid link. An attacker who stole a key
 * that has ended can backdate a link, so `isProven` decides whether a link by such a key is accepted.
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
    if (key instanceof AuditFault) break;
    // A root keeps its recorded period, especially its end.
    if (trusted.has(key.kid)) continue;
    const by = trusted.get(link.head.signerKeyId)!;
    if (by.state !== 'active' && !isProven(link.head, by)) break;
    trusted.set(key.kid, key);
  }
  return trusted;
}

/** Fetches and verifies the links from one of `roots` to `key`. Returns UNVOUCHED_KEY if there is no such chain. */
export async function fetchChain(
  log: LogSource,
  roots: KeySet,
  key: LogKey,
  published: KeySet,
  history: KeyHistory,
): Promise<KeyChain | AuditFault> {
  const rotations = rotationsTo(key, roots, published, history);
  if (rotations instanceof AuditFault) return rotations;
  const links: KeyLink[] = [];
  const trusted = new Map(roots);
  for (const rotation of rotations) {
    const link = await fetchLink(log, rotation, key);
    if (link instanceof AuditFault) return link;
    const next = followLink(link, trusted, published);
    if (next instanceof AuditFault) return next;
    links.push(link);
    trusted.set(next.kid, next);
  }
  return { links, trusted };
}

/** Returns the rotations from a root to the key, oldest first. */
function rotationsTo(
  key: LogKey,
  roots: KeySet,
  published: KeySet,
  { rotations }: KeyHistory,
): Rotation[] | AuditFault {
  const found: Rotation[] = [];
  for (let at = key; found.length < maxLinks; ) {
    const rotation = rotations.get(at.kid);
    if (rotation === undefined) return unvouched(key, `no entry of kind key.rotated names key ${at.kid}`);
    if (rotation.newFingerprint !== fingerprint(at))
      return unvouched(key, `entry ${rotation.leaf.leafIndex} names key ${at.kid} with another fingerprint`);
    found.unshift(rotation);
    if (roots.has(rotation.oldKid)) return found;
    const old = published.get(rotation.oldKid);
    if (old === undefined) return unvouched(key, `its predecessor ${rotation.oldKid} is not published`);
    at = old;
  }
  return unvouched(key, `it is more than ${maxLinks} rotations away`);
}

/** Fetches the first head of the old key that covers the entry, with the inclusion path. */
async function fetchLink(log: LogSource, { leaf, oldKid }: Rotation, key: LogKey): Promise<KeyLink | AuditFault> {
  const list = await fetchPage(log, `/api/transparency/sths?from_size=${leaf.leafIndex + 1}`, 1);
  if (list instanceof AuditFault) return list;
  for (const item of list.items) {
    const head = readTreeHead(item);
    if (head instanceof AuditFault) return head;
    if (head.signerKeyId !== oldKid) continue;
    const path = await fetchPath(log, leaf.leafIndex, head.size);
    return path instanceof AuditFault ? path : { leaf, path, head };
  }
  return unvouched(key, `no head of key ${oldKid} covers entry ${leaf.leafIndex}`);
}

async function fetchPath(log: LogSource, leafIndex: number, size: number): Promise<Hash[] | AuditFault> {
  const text = await log.get(`/api/transparency/inclusion?leaf_index=${leafIndex}&tree_size=${size}`);
  return text instanceof AuditFault ? text : readPath(members(parseExact(text))?.audit_path);
}

/** Checks that the tree of the head has this leaf, with a path fetched from the log. */
export async function proveLeaf(log: LogSource, leaf: LogLeaf, head: SignedHead): Promise<AuditFault | undefined> {
  const path = await fetchPath(log, leaf.leafIndex, head.size);
  if (path instanceof AuditFault) return path;
  const included = verifyInclusion(leaf, path, head);
  return included instanceof AuditFault ? included : undefined;
}

/**
 * Returns the trusted keys with their ends from log entries under `head`, which must be trusted. The first ending of a
 * key determines when the key ended, and the last ending determines its state.
 */
export async function withEndings(
  log: LogSource,
  trusted: KeySet,
  head: SignedHead,
  { endings }: KeyHistory,
): Promise<KeySet | AuditFault> {
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

/** Returns whether a tree-head or checkpoint key may have ended since its state was recorded. */
export function lacksEndings(keys: KeySet, head: SignedHead): boolean {
  const active = [...keys.values()].filter(({ state }) => state === 'active');
  const checkpoints = active.filter(({ purpose }) => purpose === 'checkpoint');
  return (
    checkpoints.length > 1 ||
    active.some(({ kid, purpose }) => purpose === 'transparency-sth' && kid !== head.signerKeyId)
  );
}

function unvouched(key: LogKey, reason: string): AuditFault {
  return new AuditFault(
    'UNVOUCHED_KEY',
    `the head is signed by key ${key.kid} (fingerprint ${fingerprint(key)}), which has no chain from a pinned key: ${reason}`,
    fingerprint(key),
  );
}
