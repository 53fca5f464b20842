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
  /** Hosts that used it, at most `limits.maxClientsPerName`; absent for none that are known. */
  readonly clients?: readonly string[];
}

/** How exactly it is kept when a name was last heard: names are repeated with every connection. */
const heardWithinMs = 3_600_000;

/** A name that was not used for this long gives way to others. */
const forgottenAfterMs = 30 * 86_400_000;

/**
 * The names with one more, in order of trust; the same array when nothing changes. There are limits.maxHeardNames from each
 * source, so that no source pushes out the names of another. Within a source, those used by several hosts stay, of the others
 * those that were first: a host that invents names pushes out no more than the last one that no other host used.
 */
export function withName(
  names: readonly HeardName[],
  heard: Pick<HeardName, 'name' | 'from' | 'of' | 'clients'> & { readonly at: number },
): readonly HeardName[] {
  const { name, from, at } = heard;
  const known = names.find((each) => each.name === name);
  const all = [...new Set([...(known?.clients ?? []), ...(heard.clients ?? [])])].slice(
    0,
    limits.maxClientsPerName,
  );
  const clients = all.length === 0 ? {} : { clients: all };
  if (known !== undefined && trust(known.from) <= trust(from)) {
    const isOld = at < known.last + heardWithinMs && all.length === (known.clients?.length ?? 0);
    if (isOld) return names;
    const again = { ...known, last: Math.max(at, known.last), ...clients };
    return names.map((each) => (each === known ? again : each)).sort(byTrust);
  }
  const of = heard.of ?? known?.of;
  const times = { first: known?.first ?? at, last: Math.max(at, known?.last ?? at) };
  const added: HeardName = { name, from, ...(of === undefined ? {} : { of }), ...times, ...clients };
  const others = names.filter((each) => each !== known);
  const rivals = others.filter((each) => each.from === from);
  if (rivals.length >= limits.maxHeardNames) {
    const worth = (each: HeardName) => (each.last < at - forgottenAfterMs ? -1 : used(each));
    const least = rivals.reduce((a, b) =>
      worth(b) < worth(a) || (worth(b) === worth(a) && b.first >= a.first) ? b : a,
    );
    if (worth(least) > worth(added)) return names;
    others.splice(others.indexOf(least), 1);
  }
  return [...others, added].sort(byTrust);
}

const used = ({ clients = [] }: HeardName): number => clients.length;

/** Hosts rename themselves, so that their newest name counts; of names that others use, the most used and the first. */
const byTrust = (a: HeardName, b: HeardName): number =>
  trust(a.from) - trust(b.from) ||
  (trust(a.from) <= trust('mdns') ? b.first - a.first : used(b) - used(a) || a.first - b.first);

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
