import { CachedRows } from '../../database/cached-rows.ts';
import { GroupedRows } from '../../database/grouped-rows.ts';
import type { Owner } from '../../events/asset-lookup.ts';
import { type LimitName, limits } from '../../limits.ts';
import { type Binding, beginning, continued, type MacOwner, type Use } from '../model/identity.ts';
import type { LastSeenJournal } from './last-seen-journal.ts';
import type { InventoryTables } from './tables.ts';

/**
 * The newest binding of an address: asset id, since, last, until (0 if open), MAC ('' if unknown), number of
 * earlier bindings.
 */
export type AddressRow = readonly [string, number, number, number, string, number];
/** An earlier binding of an address: asset id, last, until (0 if open), MAC ('' if unknown). */
export type EarlierBinding = readonly [string, number, number, string];
/**
 * The owner of a MAC address ('' without an owner), the kind of the MAC address, and whether the network or a
 * user assigned it.
 */
export type MacRow = readonly [asset: string, 'host' | 'gateway', by: 'network' | 'people'];

interface Mac {
  asset_id: string | undefined;
  gateway: boolean;
  byPeople: boolean;
}

interface Head {
  asset_id: string;
  since: number;
  last: number;
  until: number | undefined;
  mac: string | undefined;
  /** Number of earlier bindings of the address. */
  earlier: number;
  use?: Use | undefined;
  /**
   * Data for the fast path: in the era `era`, evidence that begins at or after `from` adds nothing new. A user's change
   * begins a new era.
   */
  calm?: { readonly from: number; readonly era: number };
}

const addressCodec = {
  pack: ({ asset_id, since, last, until, mac, earlier }: Head): AddressRow => [
    asset_id,
    since,
    last,
    until ?? 0,
    mac ?? '',
    earlier,
  ],
  unpack: ([asset_id, since, last, until, mac, earlier]: AddressRow): Head => ({
    asset_id,
    since,
    last,
    until: until === 0 ? undefined : until,
    mac: mac === '' ? undefined : mac,
    earlier,
  }),
};

const macCodec = {
  pack: ({ asset_id, gateway, byPeople }: Mac): MacRow => [
    asset_id ?? '',
    gateway ? 'gateway' : 'host',
    byPeople ? 'people' : 'network',
  ],
  unpack: ([asset, kind, by]: MacRow): Mac => ({
    asset_id: asset === '' ? undefined : asset,
    gateway: kind === 'gateway',
    byPeople: by === 'people',
  }),
};

const earlierBinding = (since: number, [asset_id, last, until, mac]: EarlierBinding): Binding => ({
  asset_id,
  since,
  last,
  until: until === 0 ? undefined : until,
  mac: mac === '' ? undefined : mac,
});

const earlierRow = ({ asset_id, last, until, mac }: Binding): EarlierBinding => [asset_id, last, until ?? 0, mac ?? ''];

/**
 * Share of the rows that are removed together at the limit, so that finding these rows costs little per row.
 */
const trimmed = 0.1;

/**
 * Records which asset had an IP address at what time, and which MAC addresses belong to assets. Only stores
 * bindings; callers decide which asset gets an address. Owned by the store thread; changes stay in memory
 * until `write`.
 */
export class Bindings {
  readonly #heads: CachedRows<string, Head, AddressRow>;
  readonly #earlier: GroupedRows<number, EarlierBinding>;
  readonly #addressesOf: GroupedRows<string, true>;
  readonly #macs: CachedRows<string, Mac, MacRow>;
  readonly #counters: InventoryTables['assetCounters'];
  readonly #stillThere: LastSeenJournal;
  #era = 0;
  #moved = false;
  #collapsed = 0;
  /** Called for each address whose owners change, with the asset from which `reassign` moved it. */
  onMoved: (ip: string, from?: string) => void = () => {};

  constructor(tables: InventoryTables, stillThere: LastSeenJournal) {
    this.#stillThere = stillThere;
    this.#heads = new CachedRows(tables.assetAddresses, limits.maxCachedAddressRows, {
      pack: addressCodec.pack,
      unpack: (row: AddressRow, ip: string) => {
        const head = addressCodec.unpack(row);
        head.last = Math.max(head.last, stillThere.lastOf(ip, head.asset_id));
        return head;
      },
    });
    this.#earlier = new GroupedRows(tables.assetBindings);
    this.#addressesOf = new GroupedRows(tables.assetAddressesOf);
    this.#macs = new CachedRows(tables.assetMacs, limits.maxCachedAssetRows, macCodec);
    this.#counters = tables.assetCounters;
  }

  get dirty(): number {
    return this.#heads.dirty + this.#earlier.dirty + this.#addressesOf.dirty + this.#macs.dirty;
  }

  get addresses(): number {
    return this.#heads.count;
  }
  /** Whether there is room for another address. */
  get hasRoom(): boolean {
    return this.#heads.count < limits.maxAssetAddresses;
  }
  get hasRoomForMac(): boolean {
    return this.#macs.count < limits.maxKnownMacs;
  }

  get reached(): Partial<Record<LimitName, number>> {
    return this.#collapsed === 0 ? {} : { maxBindingsPerAddress: this.#collapsed };
  }

  latest(ip: string): Binding | undefined {
    return this.#heads.get(ip);
  }

  /**
   * Returns the binding in force at a time; undefined if no asset had the address. The first binding begins at time 0.
   */
  at(ip: string, time: number): Binding | undefined {
    const head = this.#heads.get(ip);
    if (head === undefined) return undefined;
    let found: Binding | undefined = head;
    if (time < head.since && head.earlier > 0) {
      const earlier = this.#earlier.lastUpTo(ip, time) ?? this.#earlier.all(ip)[0];
      found = earlier === undefined ? head : earlierBinding(earlier.at, earlier.value);
    }
    return found.until !== undefined && time >= found.until ? undefined : found;
  }

  owners(ip: string): readonly Owner[] {
    const head = this.#heads.get(ip);
    return head === undefined ? [] : ownersOf(this.#all(ip, head));
  }

  /** Returns the addresses that an asset has or has had. */
  addressesOf(assetId: string): string[] {
    return this.#addressesOf.all(assetId).map(({ at }) => at);
  }

  /** Returns whether an asset may get this address in addition to its current and earlier addresses. */
  mayHave(assetId: string, ip: string): boolean {
    if (this.#addressesOf.has(assetId, ip)) return true;
    if (this.#heads.get(ip) === undefined && !this.hasRoom) return false;
    return this.#addressesOf.count(assetId) < limits.maxAddressesPerAsset;
  }

  /** Extends a binding up to newer evidence. */
  extend(ip: string, binding: Binding, last: number): void {
    if (last <= binding.last) return;
    const head = this.#heads.get(ip)!;
    if (binding.since === head.since) {
      head.last = last;
      this.#heads.put(ip, head);
    } else this.#earlier.put(ip, binding.since, earlierRow({ ...binding, last }));
  }

  /** Extends the newest binding when the asset has no other changes. Writing the row is deferred. */
  stillThere(ip: string, last: number, assetFirst: number): void {
    const head = this.#heads.get(ip)!;
    head.calm = { from: assetFirst, era: this.#era };
    this.#seenAgain(ip, head, last);
  }

  /**
   * Fast path: returns the asset of an address without a MAC address if this evidence adds nothing new; otherwise
   * undefined.
   */
  sameAgain(ip: string, first: number, last: number): string | undefined {
    const head = this.#heads.get(ip);
    if (head?.calm === undefined || head.calm.era !== this.#era || first < head.calm.from) return undefined;
    if (last < head.since || head.until !== undefined || head.mac !== undefined) return undefined;
    this.#seenAgain(ip, head, last);
    return head.asset_id;
  }

  /** Ends the fast path for all addresses. Called when users make changes. */
  stir(): void {
    this.#era++;
  }

  /** Applies a deferred time to the row, if the address still belongs to this asset. */
  settle(ip: string, assetId: string, last: number): void {
    const head = this.#heads.get(ip);
    if (head?.asset_id !== assetId) return;
    head.last = Math.max(head.last, last);
    this.#heads.put(ip, head);
  }

  #seenAgain(ip: string, head: Head, last: number): void {
    if (last <= head.last) return;
    head.last = last;
    this.#stillThere.note(ip, head.asset_id, last);
  }

  /** Sets the MAC address of the newest binding of an address. */
  setMac(ip: string, mac: string | undefined): void {
    const head = this.#heads.get(ip)!;
    head.mac = mac;
    head.use = undefined;
    this.#heads.put(ip, head);
  }

  /** Records the span in which connections of an address began, with the MAC address of its newest binding. */
  used(ip: string, use: Use): void {
    const head = this.#heads.get(ip)!;
    head.use = continued(head.use, use);
  }

  /** Adds a binding after all other bindings of the address. */
  bind(ip: string, { asset_id, since, last, mac }: Binding, ofNewAsset: boolean): void {
    const head = this.#heads.get(ip);
    let earlier = 0;
    if (head !== undefined) {
      this.#earlier.put(ip, head.since, earlierRow(head));
      earlier = head.earlier + 1;
      if (earlier > limits.maxBindingsPerAddress) earlier -= this.#collapse(ip);
    }
    this.#heads.put(ip, { asset_id, since, last, until: undefined, mac, earlier });
    if (ofNewAsset || !this.#addressesOf.has(asset_id, ip)) this.#addressesOf.put(asset_id, ip, true);
    this.#touch(ip);
  }

  /** Ends the newest binding at a time after its start. The address then has no owner. */
  release(ip: string, until: number): void {
    const head = this.#heads.get(ip)!;
    head.until = Math.max(until, head.last + 1, head.since + 1);
    this.#heads.put(ip, head);
    this.#touch(ip);
  }

  /** Returns all bindings of an address, oldest first. */
  all(ip: string): readonly Binding[] {
    const head = this.#heads.get(ip);
    return head === undefined ? [] : this.#all(ip, head);
  }

  /**
   * Removes all or some bindings of an address from an asset, or moves them to another asset. Bindings of
   * earlier owners are not extended into the resulting gap.
   */
  reassign(ip: string, from: string, to: string | undefined, moves: (binding: Binding) => boolean = () => true): void {
    const head = this.#heads.get(ip);
    if (head === undefined) return;
    const kept: Binding[] = [];
    for (const binding of this.#all(ip, head)) {
      if (binding.asset_id !== from || !moves(binding)) kept.push(binding);
      else if (to !== undefined) kept.push({ ...binding, asset_id: to });
      else {
        const before = kept.pop();
        if (before !== undefined)
          kept.push({ ...before, until: Math.min(before.until ?? Number.POSITIVE_INFINITY, binding.since) });
      }
    }
    this.#rewrite(ip, head, kept);
    if (!kept.some(({ asset_id }) => asset_id === from)) this.#addressesOf.remove(from, ip);
    if (to !== undefined) this.#addressesOf.put(to, ip, true);
    this.#touch(ip, from);
  }

  /** Returns the owner of a MAC address, or `gateway`. */
  macOwner(mac: string): MacOwner | 'gateway' {
    const known = this.#macs.get(mac);
    if (known?.gateway) return 'gateway';
    return known?.asset_id === undefined ? 'unowned' : { asset_id: known.asset_id };
  }

  mac(mac: string): Readonly<Mac> | undefined {
    return this.#macs.get(mac);
  }

  putMac(mac: string, row: Mac): void {
    this.#macs.put(mac, row);
  }

  removeMac(mac: string): void {
    this.#macs.remove(mac);
  }

  write(): void {
    this.#heads.write();
    this.#earlier.write();
    this.#addressesOf.write();
    this.#macs.write();
    if (this.#moved) this.#counters.putSync('generation', (this.#counters.get('generation') ?? 0) + 1);
    this.#moved = false;
  }

  forget(): void {
    this.#heads.forget();
    this.#earlier.forget();
    this.#addressesOf.forget();
    this.#macs.forget();
    this.#moved = false;
  }

  #touch(ip: string, from?: string): void {
    this.#moved = true;
    this.onMoved(ip, from);
  }

  #all(ip: string, head: Head): Binding[] {
    const { earlier, ...latest } = head;
    if (earlier === 0) return [latest];
    return [...this.#earlier.all(ip).map(({ at, value }) => earlierBinding(at, value)), latest];
  }

  #rewrite(ip: string, head: Head, kept: readonly Binding[]): void {
    if (head.earlier > 0) for (const { at } of this.#earlier.all(ip)) this.#earlier.remove(ip, at);
    const latest = kept.at(-1);
    if (latest === undefined) {
      this.#heads.remove(ip);
      return;
    }
    for (const binding of kept.slice(0, -1)) this.#earlier.put(ip, binding.since, earlierRow(binding));
    const { asset_id, since, last, until, mac, use } = latest;
    this.#heads.put(ip, { asset_id, since, last, until, mac, use, earlier: kept.length - 1 });
  }

  /**
   * Collapses the oldest bindings of an address into one binding, with the owner of the newest of these bindings.
   * @returns the number of removed bindings
   */
  #collapse(ip: string): number {
    this.#collapsed++;
    const all = this.#earlier.all(ip);
    const gone = Math.ceil(limits.maxBindingsPerAddress * trimmed);
    const owners = new Set(all.slice(0, gone).map(({ value }) => value[0]));
    for (const { at } of all.slice(0, gone)) this.#earlier.remove(ip, at);
    const [oldest] = all.slice(gone);
    if (oldest !== undefined && oldest.at !== beginning) {
      this.#earlier.remove(ip, oldest.at);
      this.#earlier.put(ip, beginning, oldest.value);
    }
    for (const { value } of all.slice(gone)) owners.delete(value[0]);
    for (const owner of owners) this.#addressesOf.remove(owner, ip);
    return gone;
  }
}

/**
 * Returns the owners of an address from its bindings in order of time. Adjacent bindings of the same owner are
 * joined.
 */
export function ownersOf(bindings: readonly Pick<Binding, 'asset_id' | 'since' | 'until'>[]): Owner[] {
  const owners: Owner[] = [];
  for (const [i, { asset_id, since, until }] of bindings.entries()) {
    const next = bindings[i + 1]?.since ?? Number.POSITIVE_INFINITY;
    const to = Math.min(until ?? Number.POSITIVE_INFINITY, next);
    const before = owners.at(-1);
    if (before?.asset_id === asset_id && before.to === since) owners.splice(-1, 1, { ...before, to });
    else owners.push({ asset_id, from: i === 0 ? Number.NEGATIVE_INFINITY : since, to });
  }
  return owners;
}
