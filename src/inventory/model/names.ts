import { limits } from '../../limits.ts';
import { isPublicName, registeredDomain } from '../../net/registered-domain.ts';
import { type NameSource, nameSources } from './sighting.ts';

/** A name of a host in the network. Any host on the network can choose any name. */
export interface HeardName {
  readonly name: string;
  readonly from: NameSource;
  /** The MAC or IP address with which the name was seen. */
  readonly of?: string;
  /** Time when the name was first seen, epoch milliseconds. */
  readonly first: number;
  /** Time when the name was last seen, epoch milliseconds. */
  readonly last: number;
  /** Hosts that used the name, at most `limits.maxClientsPerName`; absent if unknown. */
  readonly clients?: readonly string[];
}

/** Time after which `last` is updated again, in milliseconds, because names are repeated with every connection. */
const heardWithinMs = 3_600_000;

/** Maximum registered domains in certificates of one server. Only a proxy shows certificates of more owners. */
const maxCertificateDomains = 4;

/** Time after which an unused name may be replaced by other names. */
const forgottenAfterMs = 30 * 86_400_000;

/**
 * Adds a name, and returns the names in order of trust, or the given array if nothing changes. Each source has
 * its own limit, limits.maxHeardNames, so that a source cannot evict names of another source. For each source,
 * names used by several hosts are kept first, and then the oldest other names. Therefore, a host that invents
 * names evicts at most the newest name that no other host used.
 */
export function withName(
  names: readonly HeardName[],
  heard: Pick<HeardName, 'name' | 'from' | 'of' | 'clients'> & { readonly at: number },
): readonly HeardName[] {
  const { name, from, at } = heard;
  const known = names.find((each) => each.name === name);
  const all = [...new Set([...(known?.clients ?? []), ...(heard.clients ?? [])])].slice(0, limits.maxClientsPerName);
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

/**
 * Compares names by trust. Among names that hosts announced themselves, the newest comes first, because hosts
 * are renamed. Among names used by other hosts, the name with the most users comes first, and then the oldest name.
 */
const byTrust = (a: HeardName, b: HeardName): number =>
  trust(a.from) - trust(b.from) ||
  (trust(a.from) <= trust('mdns') ? b.first - a.first : used(b) - used(a) || a.first - b.first);

/**
 * Returns the names. For a proxy, names that clients requested are left out, because clients of a proxy see
 * certificates of other servers. A host is a proxy if it opened a tunnel, or if its certificates are of many
 * domains.
 */
export function ownNames(names: readonly HeardName[], isProxy = false): readonly HeardName[] {
  const isRequested = ({ from, clients }: HeardName) => from === 'tls' && clients !== undefined;
  const domains = names.filter(isRequested).map(({ name }) => registeredDomain(name));
  const isMany = new Set(domains.filter((domain) => domain !== undefined)).size > maxCertificateDomains;
  return isProxy || isMany ? names.filter((name) => !isRequested(name)) : names;
}

/**
 * Returns the name to show for a host: the most trusted name among the names that the host announced itself and the
 * names outside of public domains. Owners of public domains can point names at any address. Returns undefined if there
 * is no such name.
 */
export const standingName = (names: readonly HeardName[]): string | undefined =>
  names.find(({ name, from }) => from === 'dhcp' || from === 'mdns' || !isPublicName(name))?.name;

/** Merges the names of two assets that are the same host. */
export const unitedNames = (a: readonly HeardName[], b: readonly HeardName[]): readonly HeardName[] =>
  b.reduce((names, { first, last: _, ...heard }) => withName(names, { ...heard, at: first }), a);

const trust = (from: NameSource): number => nameSources.indexOf(from);
