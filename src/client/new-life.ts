/**
 * After a restore, an accepted loss or a reset, a log continues under new keys that no old key has signed. Its first
 * new entry (`log.life_started`) names the new keys and the last head of the previous life. Only the new keys sign this
 * entry: it explains why the pinned key is no longer used, and never moves a pin.
 */
import { checkExtension } from './consistency.ts';
import { AuditFault } from './fault.ts';
import { maxLinks, proveLeaf } from './key-chain.ts';
import type { KeyHistory, LifeStart } from './key-history.ts';
import { fingerprint, type KeySet } from './key-set.ts';
import type { HeadWithKeys } from './latest.ts';
import type { LogSource } from './log-source.ts';
import type { Pin } from './pin.ts';
import { verifyHead } from './verify.ts';

/** Returns NEW_LIFE or NEW_LOG if an entry in the tree of the head explains its key; otherwise `unvouched`. */
export async function explainNewKey(
  log: LogSource,
  pin: Pin,
  signed: HeadWithKeys,
  history: KeyHistory,
  unvouched: AuditFault,
): Promise<AuditFault> {
  const life = lifeOf(signed, history);
  if (life === undefined || life.leaf.leafIndex >= signed.head.size) return unvouched;
  if ((await proveLeaf(log, life.leaf, signed.head)) !== undefined) return unvouched;
  const retained = await describeRetained(log, pin, signed, life);
  if (retained instanceof AuditFault) return retained;
  const parts = [
    `entry ${life.leaf.leafIndex} records the start of a new life of the log (${life.reason})`,
    previousOf(pin, life),
    retained,
  ];
  const code = life.reason === 'begun_anew' ? 'NEW_LOG' : 'NEW_LIFE';
  return new AuditFault(code, parts.join('; '), fingerprint(signed.key));
}

/**
 * Returns the fingerprint of the first checkpoint key in the life of the head's key; undefined if no entry in the tree
 * of the head names that checkpoint key. An auditor who accepts the head's key trusts this entry too.
 */
export async function checkpointKeyOfLife(
  log: LogSource,
  signed: HeadWithKeys,
  history: KeyHistory,
): Promise<string | AuditFault | undefined> {
  const life = lifeOf(signed, history);
  if (life === undefined || life.leaf.leafIndex >= signed.head.size) return undefined;
  const unproven = await proveLeaf(log, life.leaf, signed.head);
  if (unproven !== undefined) return unproven.kind === 'unavailable' ? unproven : undefined;
  return life.keys.find(({ purpose }) => purpose === 'checkpoint')?.fingerprint;
}

/**
 * Finds the life that the head's key belongs to, following rotations within the life; undefined if no entry names that
 * life.
 */
function lifeOf({ key, keys }: HeadWithKeys, { rotations, lives }: KeyHistory): LifeStart | undefined {
  let at = key;
  for (let step = 0; step < maxLinks; step++) {
    const { kid } = at;
    const named = (one: LifeStart['keys'][number]) =>
      one.kid === kid && one.purpose === 'transparency-sth' && one.fingerprint === fingerprint(at);
    const life = lives.find((one) => one.keys.some(named));
    if (life !== undefined) return life;
    const rotation = rotations.get(kid);
    const old = rotation === undefined ? undefined : keys.get(rotation.oldKid);
    if (old === undefined || rotation?.newFingerprint !== fingerprint(at)) return undefined;
    at = old;
  }
  return undefined;
}

function previousOf(pin: Pin, { previous }: LifeStart): string {
  if (previous === undefined) return 'it names no earlier head';
  if (verifyHead(previous, pin.keys) instanceof AuditFault)
    return `it names an earlier head of size ${previous.size}, not signed by a pinned key`;
  if (previous.size >= pin.head.size)
    return `it names an earlier head of size ${previous.size}, signed by a pinned key`;
  return `it names an earlier head of size ${previous.size}, smaller than the pinned one of size ${pin.head.size}`;
}

/** Describes which of the pinned entries are in the new tree. */
async function describeRetained(
  log: LogSource,
  { head: pinned }: Pin,
  { head }: HeadWithKeys,
  { continuesFrom = 0 }: LifeStart,
): Promise<string | AuditFault> {
  const lost = `of the ${pinned.size} pinned entries, those from ${Math.min(continuesFrom, pinned.size)} on are lost`;
  if (head.size < pinned.size) return lost;
  const found = await checkExtension(log, pinned, head);
  if (found === undefined) return `all ${pinned.size} pinned entries are in the new tree`;
  return found instanceof AuditFault && found.kind === 'unavailable' ? found : lost;
}

/** Returns the keys with fingerprints that the operator confirmed. */
export function acceptedKeys(keys: KeySet, fingerprints: readonly string[]): KeySet {
  return new Map([...keys].filter(([, key]) => fingerprints.includes(fingerprint(key))));
}
