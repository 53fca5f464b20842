import { AuditFault } from './fault.ts';
import { fetchChain, withEndings } from './key-chain.ts';
import { fetchKeyHistory, type KeyHistory } from './key-history.ts';
import type { KeySet } from './key-set.ts';
import { fetchAllKeys } from './latest.ts';
import { fetchPage } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import type { Pin } from './pin.ts';
import { readTreeHead, type SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

/**
 * Returns the pinned keys with the endings that are needed to judge `head` and the checkpoint, if the log proves them:
 * endings of checkpoint keys, and of the signer of `head` if pinned. An attacker with a stolen key that ended after the
 * pin cannot make the log look guilty without also forging a key history. A key stays as pinned if its ending can't be
 * proven. Returns a fault if the log does not serve its key history.
 */
export async function withLaterEndings(log: LogSource, pin: Pin, head: SignedHead): Promise<KeySet | AuditFault> {
  const history = await fetchKeyHistory(log);
  if (history instanceof AuditFault) return history;
  let keys: KeySet = new Map(
    [...pin.keys].filter(
      ([kid, key]) => history.endings.has(kid) && (key.purpose === 'checkpoint' || kid === head.signerKeyId),
    ),
  );
  if (keys.size === 0) return pin.keys;
  for (const one of [head, pin.head, await laterHead(log, pin, history)]) {
    const known = new Map([...pin.keys, ...keys]);
    if (one === undefined) continue;
    const isTrusted = one !== head || !(verifyHead(one, known) instanceof AuditFault);
    const ended = isTrusted ? await withEndings(log, keys, one, history) : keys;
    if (!(ended instanceof AuditFault)) keys = ended;
  }
  return new Map([...pin.keys, ...keys]);
}

/**
 * Fetches a head that covers every ending, signed by the last key in the rotations from the signer of the pinned head.
 * Returns undefined if the log serves no such head.
 */
async function laterHead(log: LogSource, { head, keys }: Pin, history: KeyHistory): Promise<SignedHead | undefined> {
  const published = await fetchAllKeys(log);
  if (published instanceof AuditFault) return undefined;
  const next = new Map([...history.rotations.values()].map(({ oldKid, newKid }) => [oldKid, newKid]));
  let last = head.signerKeyId;
  for (const _ of next) last = next.get(last) ?? last;
  const key = published.get(last);
  if (key === undefined || last === head.signerKeyId) return undefined;
  const roots = new Map([[head.signerKeyId, keys.get(head.signerKeyId)!]]);
  const chain = await fetchChain(log, roots, key, published, history);
  if (chain instanceof AuditFault) return undefined;
  const covering = Math.max(...[...history.endings.values()].flat().map(({ leaf }) => leaf.leafIndex)) + 1;
  const list = await fetchPage(log, `/api/transparency/sths?from_size=${covering}`, 1);
  if (list instanceof AuditFault) return undefined;
  for (const item of list.items) {
    const one = readTreeHead(item);
    if (one instanceof AuditFault) return undefined;
    if (one.signerKeyId === last && !(verifyHead(one, chain.trusted) instanceof AuditFault)) return one;
  }
  return undefined;
}
