import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { Sighting } from '../../../src/inventory/model/sighting.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import { analyst, batchOf, everything, finding, hour, resources, start, withAlerts } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { AssetOracle, type Machine } from './asset-oracle.ts';
import { minute } from './sightings.ts';

const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.12', '2001:db8::1'];
const macs = ['00:1b:63:00:00:01', '00:1b:63:00:00:02', '00:1b:63:00:00:03'];

type Op =
  | {
      readonly op: 'seen';
      readonly hosts: readonly { ip: string; mac: string | undefined; at: number }[];
      broken: boolean;
    }
  | { readonly op: 'gateway'; readonly mac: string; readonly ip: string; readonly at: number }
  | { readonly op: 'create'; readonly ips: readonly string[]; readonly macs: readonly string[] }
  | {
      readonly op: 'change';
      readonly of: number;
      readonly ips: readonly string[];
      readonly macs: readonly string[];
    }
  | { readonly op: 'remove'; readonly of: number }
  | { readonly op: 'merge'; readonly of: number; readonly into: number }
  | { readonly op: 'split'; readonly of: number; readonly parts: readonly number[] }
  | { readonly op: 'restart' };

const ip = fc.constantFrom(...ips);
const mac = fc.constantFrom(...macs);
/** Some pauses exceed the time after which an address counts as unused. Clocks are not far ahead. */
const stepMs = 40 * minute;
const at = fc.integer({ min: -6, max: 6 }).map((offset) => start + offset * (offset < 0 ? stepMs : 1));
const times = Array.from({ length: 24 }, (_, i) => start + (i - 8) * (i < 8 ? stepMs : 1));
const some = <T>(of: fc.Arbitrary<T>) => fc.uniqueArray(of, { maxLength: 2 });
const of = fc.nat(20);
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant('seen' as const),
      hosts: fc.array(fc.record({ ip, mac: fc.option(mac, { nil: undefined }), at }), {
        minLength: 1,
        maxLength: 3,
      }),
      broken: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('gateway' as const), mac, ip, at }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('create' as const), ips: some(ip), macs: some(mac) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('change' as const), of, ips: some(ip), macs: some(mac) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), of }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('merge' as const), of, into: of }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('split' as const),
      of,
      parts: fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ op: 'restart' as const }) },
);

/** A store and its oracle. */
class World {
  readonly oracle = new AssetOracle();
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'candor-assets-'));
  #store: Store;
  #reader: StoreReader;

  constructor() {
    this.#store = this.#open();
    this.#reader = openReader(this.#dataDir);
  }

  #open(): Store {
    return withAlerts(openStore({ dataDir: this.#dataDir, alertWindowMs: hour, clock: () => start }), []);
  }

  async close(): Promise<void> {
    this.#reader.close();
    await this.#store.close();
    await inspectStore(this.#dataDir, () => undefined);
    rmSync(this.#dataDir, { recursive: true });
  }

  async run(op: Op): Promise<void> {
    const { oracle } = this;
    switch (op.op) {
      case 'seen': {
        const sightings = op.hosts.map(
          (host): Sighting => ({
            kind: 'host',
            ip: host.ip,
            at: host.at,
            ...(host.mac === undefined ? {} : { mac: host.mac }),
          }),
        );
        if (op.broken) {
          // The transaction is aborted when its sightings are already in memory; the other calls are
          // committed.
          const broken = this.#store.commit(batchOf([finding({ timestamp: Number.NaN })], { sightings }));
          const next = this.#store.commit(batchOf([]));
          await expect(broken).rejects.toThrow(RangeError);
          await next;
          oracle.forgetUse();
          return;
        }
        await this.#store.commit(batchOf([], { sightings }));
        for (const { ip, mac, at } of op.hosts.toSorted((a, b) => a.at - b.at)) oracle.seen(ip, mac, at);
        return;
      }
      case 'gateway': {
        const block = new BlockBuilder('network', 0);
        for (const n of [1, 2, 3])
          block.add(
            networkRecord({
              src_ip: `198.51.100.${n}`,
              src_mac: op.mac,
              dst_ip: op.ip,
              direction: 'inbound',
              conn_state: 'SF',
              timestamp: op.at,
            }),
          );
        await this.#store.commit(batchOf([], { blocks: [block.finish()] }));
        oracle.gateway(op.mac);
        oracle.seen(op.ip, undefined, op.at);
        return;
      }
      case 'create': {
        const created = this.#store.createAsset(
          { name: 'made', ip_addresses: [...op.ips], mac_addresses: [...op.macs] },
          analyst,
        );
        if (await this.#refused(created, this.#taken(op, undefined))) return;
        oracle.create(op.ips, op.macs);
        return;
      }
      case 'change': {
        const machine = this.#pick(op.of);
        if (machine === undefined) return;
        const changed = this.#store.changeAsset(
          this.#idOf(machine),
          { ip_addresses: [...op.ips], mac_addresses: [...op.macs] },
          analyst,
        );
        if (await this.#refused(changed, this.#taken(op, machine))) return;
        const now = oracle.ipsOf(machine);
        if (!isSame(op.ips, now) || !isSame(op.macs, machine.macs)) machine.isByPeople = true;
        for (const mac of machine.macs.filter((each) => !op.macs.includes(each))) oracle.releaseMac(machine, mac);
        for (const ip of now.filter((each) => !op.ips.includes(each))) oracle.release(ip, start);
        for (const mac of op.macs.filter((each) => !machine.macs.includes(each))) oracle.enterMac(machine, mac);
        for (const ip of op.ips.filter((each) => !now.includes(each))) oracle.enter(machine, ip);
        oracle.order.set(machine, [...op.ips]);
        return;
      }
      case 'remove': {
        const machine = this.#pick(op.of);
        if (machine === undefined) return;
        await this.#store.removeAsset(this.#idOf(machine));
        oracle.remove(machine);
        return;
      }
      case 'merge': {
        const [from, into] = [this.#pick(op.of), this.#pick(op.into)];
        if (from === undefined || into === undefined) return;
        const [id, other] = [this.#idOf(from), this.#idOf(into)];
        if (await this.#refused(this.#store.mergeAssets(id, other, analyst), from === into)) return;
        oracle.merge(from, into);
        expect(this.#reader.getAsset(id)).toBeUndefined();
        expect(this.#reader.mergedInto(id)).toBe(other);
        return;
      }
      case 'split': {
        const machine = this.#pick(op.of);
        if (machine === undefined) return;
        const all = [...oracle.everHad(machine).sort(), ...[...machine.macs].sort()];
        const identifiers = [...new Set(op.parts.map((part) => all[part % all.length]))].filter(
          (each) => each !== undefined,
        );
        if (identifiers.length === 0) return;
        const leavesNothing = this.#leavesNothing(machine, identifiers);
        if (await this.#refused(this.#store.splitAsset(this.#idOf(machine), identifiers, analyst), leavesNothing))
          return;
        oracle.split(machine, identifiers);
        return;
      }
      case 'restart':
        oracle.forgetUse();
        this.#reader.close();
        await this.#store.close();
        this.#store = this.#open();
        this.#reader = openReader(this.#dataDir);
    }
  }

  async check(): Promise<void> {
    const { oracle } = this;
    const page = resources<Asset>(this.#reader.listAssets({ ...everything, sort: 'name' }));
    const owners = this.#ids();
    expect(page.map(({ id }) => id).sort()).toEqual([...owners.values()].sort());
    for (const machine of oracle.machines) {
      const id = owners.get(machine)!;
      const asset = this.#reader.getAsset(id)!;
      expect([...asset.ip_addresses].sort()).toEqual(oracle.ipsOf(machine).sort());
      expect([...asset.mac_addresses].sort()).toEqual([...machine.macs].sort());
      expect([asset.source, asset.state]).toEqual([machine.source, machine.state]);
    }
    const { assets } = this.#reader;
    assets.refresh();
    for (const ip of ips)
      for (const time of times) {
        const owner = oracle.ownerAt(ip, time);
        const id = owner === undefined ? undefined : owners.get(owner);
        expect(assets.at(ip, time), `${ip} at ${time - start}`).toBe(id);
        const inRange = page.filter(({ id }) =>
          assets.ranges(id).some((span) => span.ip === ip && span.from <= time && time < span.to),
        );
        expect(inRange.map(({ id }) => id)).toEqual(id === undefined ? [] : [id]);
      }
    const { total } = this.#reader.listAssets({ ...everything, sort: 'name', per_page: 1 });
    expect(await this.#store.status()).toMatchObject({ assets: total });
    expect(total).toBe(oracle.machines.length);
  }

  /** Maps machines to assets by their current or earlier addresses, or by their MAC addresses. */
  #ids(): Map<Machine, string> {
    const { assets } = this.#reader;
    assets.refresh();
    const found = new Map<Machine, string>();
    for (const { id, attributes } of resources<Asset>(this.#reader.listAssets({ ...everything, sort: 'name' }))) {
      const spans = assets.ranges(id);
      const machine =
        spans.length > 0
          ? this.oracle.ownerAt(spans[0]!.ip, Math.max(spans[0]!.from, 0))
          : this.oracle.machines.find(
              (each) =>
                !found.has(each) &&
                this.oracle.everHad(each).length === 0 &&
                each.source === attributes.source &&
                each.state === attributes.state &&
                [...each.macs].sort().join() === [...attributes.mac_addresses].sort().join(),
            );
      expect(machine, `${id} is an asset`).toBeDefined();
      found.set(machine!, id);
    }
    return found;
  }

  #idOf(machine: Machine): string {
    return this.#ids().get(machine)!;
  }

  #pick(n: number): Machine | undefined {
    return this.oracle.machines[n % this.oracle.machines.length];
  }

  #taken({ ips, macs }: { ips: readonly string[]; macs: readonly string[] }, by: Machine | undefined): boolean {
    const holders = [
      ...ips.map((ip) => this.oracle.holderOf(ip)),
      ...macs.map((mac) => this.oracle.macs.get(mac)?.owner),
    ];
    return holders.some((holder) => holder !== undefined && holder !== by);
  }

  #leavesNothing(machine: Machine, identifiers: readonly string[]): boolean {
    const macs = machine.macs.filter((mac) => identifiers.includes(mac));
    const stays = this.oracle
      .ipsOf(machine)
      .filter((ip) => !identifiers.includes(ip) && !macs.includes(this.oracle.turns.get(ip)!.at(-1)!.mac ?? ''));
    return stays.length === 0 && macs.length === machine.macs.length;
  }

  /** Returns whether the change was rejected. If `should` is set, asserts the rejection. */
  async #refused(change: Promise<unknown>, should: boolean): Promise<boolean> {
    if (should) await expect(change).rejects.toMatchObject({ code: 'CONFLICT' });
    else await change;
    return should;
  }
}

const isSame = (a: readonly string[], b: readonly string[]) => [...a].sort().join() === [...b].sort().join();

test('assets equal the assets of a naive implementation after the same sightings and changes, across restarts and aborts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 25 }), async (ops) => {
      const world = new World();
      try {
        for (const each of ops) {
          await world.run(each);
          await world.check();
        }
      } finally {
        await world.close();
      }
    }),
    {
      numRuns: 25,
      examples: [
        // A MAC address takes over an address at the time at which another MAC address was first seen there.
        [
          [
            {
              op: 'seen',
              broken: false,
              hosts: [
                { ip: '10.0.0.1', mac: undefined, at: start },
                { ip: '10.0.0.12', mac: '00:1b:63:00:00:01', at: start },
              ],
            },
            {
              op: 'seen',
              broken: false,
              hosts: [
                { ip: '10.0.0.1', mac: '00:1b:63:00:00:03', at: start },
                { ip: '10.0.0.12', mac: '00:1b:63:00:00:03', at: start - 1 },
              ],
            },
          ],
        ],
        // Users' changes to an asset with only a MAC address stay, although the network would treat the asset
        // as a device without an address.
        [
          [
            { op: 'seen', broken: false, hosts: [{ ip: '10.0.0.1', mac: '00:1b:63:00:00:01', at: start }] },
            {
              op: 'change',
              of: 0,
              ips: ['10.0.0.1'],
              macs: ['00:1b:63:00:00:01', '00:1b:63:00:00:02'],
            },
            { op: 'split', of: 0, parts: [2] },
            { op: 'seen', broken: false, hosts: [{ ip: '10.0.0.2', mac: undefined, at: start }] },
            {
              op: 'seen',
              broken: false,
              hosts: [{ ip: '10.0.0.2', mac: '00:1b:63:00:00:02', at: start + 1 }],
            },
          ],
        ],
      ],
    },
  );
});
