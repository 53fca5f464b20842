/**
 * Whose an address is: what changes when a host is seen. A MAC address identifies a machine, an IP address only for as
 * long as nothing speaks against it, so that an address that moves doesn't make one machine of two, and a machine with
 * two addresses stays one.
 */

/** Which asset had an address from `since` on: until the next binding of the address, or `until`. Epoch milliseconds. */
export interface Binding {
  readonly asset_id: string;
  readonly since: number;
  /** Last evidence of it: with the MAC address where it has one. */
  readonly last: number;
  readonly until?: number | undefined;
  readonly mac?: string | undefined;
  /** With that MAC address; in memory only. */
  readonly use?: Use | undefined;
}

/** When an address was in use: its connections began within this time, with short pauses. Epoch milliseconds. */
export interface Use {
  readonly from: number;
  readonly to: number;
}

/** A machine that moves between two networks seldom comes back sooner; machines behind a router take turns more often. */
const longestPauseMs = 3_600_000;

/** Use of an address after more connections; those from long before say nothing of the present. */
export function continued(before: Use | undefined, next: Use): Use {
  if (before === undefined || next.from > before.to + longestPauseMs) return next;
  if (next.to < before.from - longestPauseMs) return before;
  return { from: Math.min(before.from, next.from), to: Math.max(before.to, next.to) };
}

/**
 * Whether two addresses were in use at the same time: connections of one began before and after one of the other. An address
 * that replaces another is not, even while peers still send to the former one.
 */
export const overlap = (a: Use | undefined, b: Use | undefined): boolean =>
  a !== undefined && b !== undefined && a.from <= b.to && b.from <= a.to;

/** What a usable MAC address is known for: the asset that has it, or that no asset has. */
export type MacOwner = { readonly asset_id: string } | 'nobody';

/** What is known when a host is seen. */
export interface Known {
  /** The newest binding of the address. */
  readonly latest: Binding | undefined;
  /** The one that was in force when the host was last seen. */
  readonly inForce: Binding | undefined;
  /** Whose MAC address the host was seen with; undefined where it had none that identifies a host. */
  readonly mac: MacOwner | undefined;
  /** The owner then has no MAC address. */
  readonly ownerHasNoMac: boolean;
}

/** `since` is absent where the address stays whose it was. */
type Decision =
  /** Old evidence of an address that was nobody's then: nothing of it is recorded. */
  | { readonly kind: 'nobody' }
  /** Of an asset that is known; `extends`: its binding has new evidence. */
  | { readonly kind: 'seen'; readonly asset_id: string; readonly extends: boolean }
  /** The owner of the address, which had no MAC address, gets this one. */
  | { readonly kind: 'adopt'; readonly asset_id: string }
  /** The address comes to an asset that is known. */
  | { readonly kind: 'bind'; readonly asset_id: string; readonly since: number }
  | { readonly kind: 'create'; readonly since?: number };

/** What the first binding of an address begins with: it reaches back as far as events do. */
export const beginning = 0;

/**
 * Decides on evidence of an address within [first, last].
 *
 * 1. Without a MAC address it is the owner's, or a new asset's.
 * 2. With one that an asset has, the address is that asset's from now on.
 * 3. With a new one: the owner gets it if it has none; otherwise it is a new machine.
 * 4. What is older than the newest evidence of the address moves no address.
 */
export function decide(seen: { readonly first: number; readonly last: number }, known: Known): Decision {
  const { latest, inForce, mac } = known;
  const owner = inForce?.asset_id;
  if (mac !== undefined && mac !== 'nobody') {
    if (owner === mac.asset_id) return { kind: 'seen', asset_id: owner, extends: true };
    if (isLate(seen.last, latest)) return { kind: 'seen', asset_id: mac.asset_id, extends: false };
    return { kind: 'bind', asset_id: mac.asset_id, since: startAfter(latest, seen.first) };
  }
  if (owner !== undefined) {
    if (mac === undefined) return { kind: 'seen', asset_id: owner, extends: true };
    if (known.ownerHasNoMac) return { kind: 'adopt', asset_id: owner };
  }
  if (!isLate(seen.last, latest)) return { kind: 'create', since: startAfter(latest, seen.first) };
  return mac === undefined ? { kind: 'nobody' } : { kind: 'create' };
}

/** Nothing after the newest evidence, or after the address was taken away. */
const isLate = (last: number, latest: Binding | undefined): boolean =>
  latest !== undefined && last < endOf(latest);

/** The first moment that a binding says nothing of. */
export const endOf = ({ last, since, until }: Binding): number => Math.max(last + 1, since + 1, until ?? 0);

const startAfter = (latest: Binding | undefined, first: number): number =>
  latest === undefined ? beginning : Math.max(first, endOf(latest));

/**
 * Addresses of redundant routers (VRRP, RFC 9568 section 7.3; HSRP, RFC 2281 section 4; GLBP), which move between machines,
 * and the one address by which a cloud or container network forwards for all machines (Azure, Xen and EC2, Calico).
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

/** Whether a MAC address (canonical) can stand for one machine. */
export function identifies(mac: string): boolean {
  if ((Number.parseInt(mac.slice(0, 2), 16) & 1) === 1 || mac === '00:00:00:00:00:00') return false;
  return !virtual.some((prefix) => mac.startsWith(prefix));
}
