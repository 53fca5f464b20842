/** The senders of the inputs in one interval of time, and the addresses and ports that all these inputs share. */
export interface Origin {
  readonly since: number;
  /** Addresses and ports that are common to all inputs. */
  ends: unknown;
  /** Principals that sent the inputs, without duplicates, up to a limit. */
  senders: readonly string[];
}

/** The senders of the inputs in several intervals, and the addresses and ports that all these inputs share. */
export type SharedOrigin = Pick<Origin, 'ends' | 'senders'>;

export const noOrigin: SharedOrigin = { ends: undefined, senders: [] };

const maxSenders = 20;

/**
 * Adds an input to its interval.
 *
 * @param origins - sorted by time
 * @param stretchMs - length of an interval
 * @returns the origin of the interval if its senders or common addresses and ports changed, otherwise undefined
 */
export function noteOrigin(
  origins: Origin[],
  stretchMs: number,
  time: number,
  ends: unknown,
  sender: string | undefined,
): Origin | undefined {
  const since = Math.floor(time / stretchMs) * stretchMs;
  let at = origins.length;
  while (at > 0 && origins[at - 1]!.since > since) at--;
  const known = origins[at - 1];
  const senders = sender === undefined ? [] : [sender];
  if (known?.since !== since) {
    const origin = { since, ends, senders };
    origins.splice(at, 0, origin);
    return origin;
  }
  const all = joined(known, { ends, senders });
  if (all.ends === known.ends && all.senders === known.senders) return;
  return Object.assign(known, all);
}

export function joined(one: SharedOrigin, other: SharedOrigin): SharedOrigin {
  const isKnown = other.senders.every((sender) => one.senders.includes(sender));
  const senders = isKnown ? one.senders : [...new Set([...one.senders, ...other.senders])].slice(0, maxSenders);
  return { ends: shared(one.ends, other.ends), senders };
}

/** Returns the equal members of two plain objects: addresses that differ are not common to the group. */
function shared(one: unknown, other: unknown): unknown {
  if (typeof one !== 'object' || one === null) return other;
  if (typeof other !== 'object' || other === null) return one;
  let differ = 0;
  for (const name in one) if (Reflect.get(one, name) !== Reflect.get(other, name)) differ++;
  if (differ === 0) return one;
  return Object.fromEntries(Object.entries(one).filter(([name, value]) => Reflect.get(other, name) === value));
}
