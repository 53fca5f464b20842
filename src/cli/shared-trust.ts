import type { Evidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { fetchChain, withEndings } from '../client/key-chain.ts';
import { fetchKeyHistory, type KeyHistory } from '../client/key-history.ts';
import { clockToleranceMs, endOf, type KeySet, type LogKey } from '../client/key-set.ts';
import { fetchAllKeys } from '../client/latest.ts';
import type { LogSource } from '../client/log-source.ts';
import type { Pin } from '../client/pin.ts';

/** Keys on which the verdict on two pins depends. */
export type Trust = Pick<Evidence, 'pinnedKeys' | 'links' | 'keys'>;

/**
 * Determines the keys that both auditors trust, and the rotations from these keys to the signer of a pinned head. If
 * the pins share no tree-head key, the chain starts at the signer of one pinned head and ends at the signer of the
 * other pinned head. A key that only one pin has is never trusted on its own, because any user can write a pin.
 */
export async function sharedTrust(one: Pin, other: Pin, log: LogSource | undefined): Promise<Trust | AuditFault> {
  const common = commonKeys(one, other);
  if (common instanceof AuditFault) return common;
  const isShared = ({ head }: Pin) => common.has(head.signerKeyId);
  if (isShared(one) && isShared(other)) return { pinnedKeys: common, keys: common };
  const missing =
    log === undefined
      ? 'pass the URL of the log, so that its key rotations can be verified'
      : 'they belong to different logs or lives';
  const unvouched = new AuditFault('UNVOUCHED_KEY', `the pins have no common keys that lead to both heads; ${missing}`);
  if (log === undefined) return unvouched;
  const published = await fetchAllKeys(log);
  if (published instanceof AuditFault) return published;
  const history = await fetchKeyHistory(log);
  if (history instanceof AuditFault) return history;
  const answers = { log, published, history };
  const areRelated = [...common.values()].some(isTreeHeadKey);
  const linked = async (root: Pin, next: Pin) => {
    if (areRelated && !isShared(root)) return unvouched;
    return linkedTrust(areRelated ? common : signerOf(root), root, next, answers);
  };
  const forward = await linked(one, other);
  const found = forward instanceof AuditFault ? await linked(other, one) : forward;
  return found instanceof AuditFault && found.kind !== 'unavailable' ? unvouched : found;
}

/**
 * Follows the rotations from `roots` to the signer of the other pin. Key endings are proven under the head of the other
 * pin.
 */
async function linkedTrust(
  roots: KeySet,
  root: Pin,
  { head, keys }: Pin,
  { log, published, history }: { log: LogSource; published: KeySet; history: KeyHistory },
): Promise<Trust | AuditFault> {
  const known = new Map([...published, ...root.keys, ...keys]);
  const chain = await fetchChain(log, roots, keys.get(head.signerKeyId)!, known, history);
  if (chain instanceof AuditFault) return chain;
  const ended = await withEndings(log, chain.trusted, head, history);
  if (ended instanceof AuditFault) return ended;
  // A pin made before a key's end shows that the key was in use. Only a pin made after the end may have been made with
  // a stolen key.
  const sawEnd = (key: LogKey) => Date.parse(root.updatedAt) > (endOf(key) ?? Infinity) + clockToleranceMs;
  const pinnedKeys = new Map([...roots].map(([kid, key]) => [kid, sawEnd(ended.get(kid)!) ? ended.get(kid)! : key]));
  return { pinnedKeys, links: chain.links, keys: known };
}

/** Returns the keys in both pins. If one copy records the end of the key, that copy is used. */
function commonKeys(one: Pin, other: Pin): KeySet | AuditFault {
  const common = new Map<string, LogKey>();
  for (const [kid, key] of one.keys) {
    const its = other.keys.get(kid);
    if (its === undefined) continue;
    if (its.x !== key.x) return new AuditFault('KEY_CHANGED', `the two pins have different values for key ${kid}`);
    common.set(kid, key.state === 'active' ? its : key);
  }
  return common;
}

const isTreeHeadKey = ({ purpose }: LogKey): boolean => purpose === 'transparency-sth';

/** Returns the signer of the pinned head, and the checkpoint keys, whose signatures date the head. */
function signerOf({ head, keys }: Pin): KeySet {
  return new Map([...keys].filter(([kid, key]) => kid === head.signerKeyId || !isTreeHeadKey(key)));
}
