import type { Evidence } from '../client/evidence.ts';
import { Fault } from '../client/fault.ts';
import { fetchChain, withEndings } from '../client/key-chain.ts';
import { fetchKeyHistory, type KeyHistory } from '../client/key-history.ts';
import { clockToleranceMs, endOf, type KeySet, type LogKey } from '../client/key-set.ts';
import { fetchAllKeys } from '../client/latest.ts';
import type { LogSource } from '../client/log-source.ts';
import type { Pin } from '../client/pin.ts';

/** The keys that a verdict on two pins rests on. */
export type Trust = Pick<Evidence, 'pinnedKeys' | 'links' | 'keys'>;

/**
 * The keys that both auditors trust, with the rotations that lead from them to the signer of a pinned head. Pins without a
 * common tree-head key: the rotations from the signer of one pinned head to that of the other. A key that only one pin
 * names is never trusted, because anyone can write a pin.
 */
export async function sharedTrust(one: Pin, other: Pin, log: LogSource | undefined): Promise<Trust | Fault> {
  const common = commonKeys(one, other);
  if (common instanceof Fault) return common;
  const isShared = ({ head }: Pin) => common.has(head.signerKeyId);
  if (isShared(one) && isShared(other)) return { pinnedKeys: common, keys: common };
  const missing =
    log === undefined
      ? 'name the address of the log, which shows its rotations'
      : 'they are of different logs or lives';
  const refused = new Fault(
    'UNVOUCHED_KEY',
    `the pins do not share the keys that signed their heads: ${missing}`,
  );
  if (log === undefined) return refused;
  const published = await fetchAllKeys(log);
  if (published instanceof Fault) return published;
  const history = await fetchKeyHistory(log);
  if (history instanceof Fault) return history;
  const answers = { log, published, history };
  const areRelated = [...common.values()].some(isTreeHeadKey);
  const linked = async (root: Pin, next: Pin) => {
    if (areRelated && !isShared(root)) return refused;
    return linkedTrust(areRelated ? common : signerOf(root), root, next, answers);
  };
  const forward = await linked(one, other);
  const found = forward instanceof Fault ? await linked(other, one) : forward;
  return found instanceof Fault && found.kind !== 'unavailable' ? refused : found;
}

/** Rotations from `roots` to the signer of the other pin, under whose head the ends of keys are proven. */
async function linkedTrust(
  roots: KeySet,
  root: Pin,
  { head, keys }: Pin,
  { log, published, history }: { log: LogSource; published: KeySet; history: KeyHistory },
): Promise<Trust | Fault> {
  const known = new Map([...published, ...root.keys, ...keys]);
  const chain = await fetchChain(log, roots, keys.get(head.signerKeyId)!, known, history);
  if (chain instanceof Fault) return chain;
  const ended = await withEndings(log, chain.trusted, head, history);
  if (ended instanceof Fault) return ended;
  // A pin from before the end of a key shows that the key was in use: only a later one can be a thief's.
  const sawEnd = (key: LogKey) => Date.parse(root.updatedAt) > (endOf(key) ?? Infinity) + clockToleranceMs;
  const pinnedKeys = new Map(
    [...roots].map(([kid, key]) => [kid, sawEnd(ended.get(kid)!) ? ended.get(kid)! : key]),
  );
  return { pinnedKeys, links: chain.links, keys: known };
}

/** The keys that both pins have. The copy that knows the end of a key counts. */
function commonKeys(one: Pin, other: Pin): KeySet | Fault {
  const common = new Map<string, LogKey>();
  for (const [kid, key] of one.keys) {
    const its = other.keys.get(kid);
    if (its === undefined) continue;
    if (its.x !== key.x) return new Fault('KEY_CHANGED', `the two pins have different values for key ${kid}`);
    common.set(kid, key.state === 'active' ? its : key);
  }
  return common;
}

const isTreeHeadKey = ({ purpose }: LogKey): boolean => purpose === 'transparency-sth';

/** The signer of the pinned head, and the checkpoint keys, which date it. */
function signerOf({ head, keys }: Pin): KeySet {
  return new Map([...keys].filter(([kid, key]) => kid === head.signerKeyId || !isTreeHeadKey(key)));
}
