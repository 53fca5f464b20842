/**
 * Decides which asset owns an address when a host is seen. A MAC address identifies a machine; an IP address identifies
 * a machine only until there is contrary evidence. Therefore, an address that moves does not split a machine, and a
 * machine with two addresses remains one asset.
 */

/**
 * The asset that had an address from `since` until the next binding of the address, or `until`. Epoch
 * milliseconds.
 */
export interface Binding {
  readonly asset_id: string;
  readonly since: number;
  /**
   * Time of the last evidence. If the binding has a MAC address, only evidence with that MAC address counts.
   */
  readonly last: number;
  readonly until?: number | undefined;
  readonly mac?: string | undefined;
  /** Use of the address with the binding's MAC address. Only in memory. */
  readonly use?: Use | undefined;
}

/**
 * A time span in which an address was in use: its connections began in the span, with only short pauses between the
 * connections. Epoch milliseconds.
 */
export interface Use {
  readonly from: number;
  readonly to: number;
}

/**
 * Longest pause within one use. A machine that moves between two networks rarely returns sooner; machines
 * behind a router alternate more often.
 */
const longestPauseMs = 3_600_000;

/**
 * Returns the use of an address after further connections. After a long pause, a new use begins; connections
 * long before the use are ignored.
 */
export function continued(before: Use | undefined, next: Use): Use {
  if (before === undefined || next.from > before.to + longestPauseMs) return next;
  if (next.to < before.from - longestPauseMs) return before;
  return { from: Math.min(before.from, next.from), to: Math.max(before.to, next.to) };
}

/**
 * Returns whether two addresses were in use at the same time: a connection of one address began between two connections
 * of the other address. A replaced address is not in use, even while peers still send to the address.
 */
export const overlap = (a: Use | undefined, b: Use | undefined): boolean =>
  a !== undefined && b !== undefined && a.from <= b.to && b.from <= a.to;

/** The asset that a usable MAC address identifies, or `unowned`. */
export type MacOwner = { readonly asset_id: string } | 'unowned';

/** The known facts when a host is seen. */
export interface Known {
  /** The newest binding of the address. */
  readonly latest: Binding | undefined;
  /** The binding in force when the host was last seen. */
  readonly inForce: Binding | undefined;
  /** The owner of the host's MAC address; undefined if the host has no identifying MAC address. */
  readonly mac: MacOwner | undefined;
  /** Whether the owner of the IP address has no MAC address. */
  readonly ownerHasNoMac: boolean;
}

/** The result of `decide`. `since` is absent if the owner of the address does not change. */
type Decision =
  /** Nothing is recorded: the evidence is old, and the address had no owner at that time. */
  | { readonly kind: 'ignore' }
  /** The evidence belongs to a known asset and, with `extends`, extends the binding in force. */
  | { readonly kind: 'seen'; readonly asset_id: string; readonly extends: boolean }
  /** The owner of the address had no MAC address, and gets this MAC address. */
  | { readonly kind: 'adopt'; readonly asset_id: string }
  /** The address moves to a known asset. */
  | { readonly kind: 'bind'; readonly asset_id: string; readonly since: number }
  | { readonly kind: 'create'; readonly since?: number };

/** Start of an address's first binding. The first binding also covers all earlier events. */
export const beginning = 0;

/**
 * Decides which asset owns an address, from evidence of the address within [first, last].
 *
 * 1. Without a MAC address, the evidence belongs to the owner of the address, or to a new asset.
 * 2. With the MAC address of an asset, the address belongs to that asset from then on.
 * 3. With a new MAC address, the owner gets the MAC address if the owner has no MAC address; otherwise, a new asset is
 *   created.
 * 4. Evidence older than the newest evidence of the address does not move the address.
 */
export function decide(seen: { readonly first: number; readonly last: number }, known: Known): Decision {
  const { latest, inForce, mac } = known;
  const owner = inForce?.asset_id;
  if (mac !== undefined && mac !== 'unowned') {
    if (owner === mac.asset_id) return { kind: 'seen', asset_id: owner, extends: true };
    if (isLate(seen.last, latest)) return { kind: 'seen', asset_id: mac.asset_id, extends: false };
    return { kind: 'bind', asset_id: mac.asset_id, since: startAfter(latest, seen.first) };
  }
  if (owner !== undefined) {
    if (mac === undefined) return { kind: 'seen', asset_id: owner, extends: true };
    if (known.ownerHasNoMac) return { kind: 'adopt', asset_id: owner };
  }
  if (!isLate(seen.last, latest)) return { kind: 'create', since: startAfter(latest, seen.first) };
  return mac === undefined ? { kind: 'ignore' } : { kind: 'create' };
}

/**
 * Returns whether the time is before the end of the newest evidence, or before the address was removed from its
 * owner.
 */
const isLate = (last: number, latest: Binding | undefined): boolean => latest !== undefined && last < endOf(latest);

/** Returns the first moment after a binding. */
export const endOf = ({ last, since, until }: Binding): number => Math.max(last + 1, since + 1, until ?? 0);

const startAfter = (latest: Binding | undefined, first: number): number =>
  latest === undefined ? beginning : Math.max(first, endOf(latest));

/**
 * Addresses of redundant routers (VRRP, RFC 9568 section 7.3; HSRP, RFC 2281 section 4; GLBP), which move
 * between machines, and the shared addresses with which cloud and container networks forward for all machines
 * (Azure, Xen and EC2, Calico).
 */
const virtual = [
  '00:00:5e:00:01:',
  '00:00:5e:00:02:',
  '00:00:0c:07:ac:',
  '00:05:73:a0:',
  '00:00:0c:9f:f',
  '00:07:b4:00:',
  '12:34:56:78:9a:bc',
  'fe:ff:ff:ff:ff:ff',
  'ee:ee:ee:ee:ee:ee',
];

/** Returns whether a MAC address (canonical) can identify one machine. */
export function identifies(mac: string): boolean {
  if ((Number.parseInt(mac.slice(0, 2), 16) & 1) === 1 || mac === '00:00:00:00:00:00') return false;
  return !virtual.some((prefix) => mac.startsWith(prefix));
}
