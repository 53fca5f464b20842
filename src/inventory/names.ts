import { isPublicName } from '../events/registered-domain.ts';
import { limits } from '../limits.ts';
import { type NameSource, nameSources } from './sighting.ts';

/** A name that the network gave a host. Whoever is on the network chooses it. */
export interface HeardName {
  readonly name: string;
  readonly from: NameSource;
  /** The MAC or IP address that it was heard of. */
  readonly of?: string;
  /** When it was first and last heard, epoch milliseconds. */
  readonly first: number;
  readonly last: number;
}

/** How exactly it is kept when a name was last heard: names are repeated with every connection. */
const heardWithinMs = 3_600_000;

/**
 * The names with one more, in order of trust, newer ones first; the same array when there is nothing to note. Past
 * limits.maxHeardNames, the least trusted goes, of these the one that wasn't heard for longest: a newcomer that is
 * trusted less than all others isn't taken.
 */
export function withName(
  names: readonly HeardName[],
  heard: Pick<HeardName, 'name' | 'from' | 'of'> & { readonly at: number },
): readonly HeardName[] {
  const { name, from, at } = heard;
  const known = names.find((each) => each.name === name);
  if (known !== undefined && trust(known.from) <= trust(from)) {
    if (at < known.last + heardWithinMs) return names;
    return names.map((each) => (each === known ? { ...known, last: at } : each));
  }
  const others = names.filter((each) => each !== known);
  if (others.length >= limits.maxHeardNames) {
    const least = others.toSorted((a, b) => trust(b.from) - trust(a.from) || a.last - b.last)[0]!;
    if (trust(from) > trust(least.from)) return names;
    others.splice(others.indexOf(least), 1);
  }
  const of = heard.of ?? known?.of;
  const times = { first: known?.first ?? at, last: Math.max(at, known?.last ?? at) };
  const added = { name, from, ...(of === undefined ? {} : { of }), ...times };
  return [...others, added].sort((a, b) => trust(a.from) - trust(b.from) || b.first - a.first);
}

/**
 * The name that stands for a host: the most trusted of those that it gave itself or that are of no public domain.
 * Whoever has a public domain points its names at what addresses he likes.
 */
export const standingName = (names: readonly HeardName[]): string | undefined =>
  names.find(({ name, from }) => from === 'dhcp' || from === 'mdns' || !isPublicName(name))?.name;

/** The names of two hosts that turned out to be one. */
export const unitedNames = (a: readonly HeardName[], b: readonly HeardName[]): readonly HeardName[] =>
  b.reduce((names, { first, last: _, ...heard }) => withName(names, { ...heard, at: first }), a);

const trust = (from: NameSource): number => nameSources.indexOf(from);
