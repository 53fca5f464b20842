import fc from 'fast-check';
import type { AddressSpan, AssetLookup, Owner } from '../../src/events/asset-lookup.ts';
import { addressBytes, printAddress } from '../../src/net/ip.ts';

/**
 * The address belongs to the asset from `since` until `until` or the next binding of the address. The first binding of
 * an address also covers all earlier times.
 */
export interface Binding {
  readonly ip: string;
  readonly asset_id: string;
  readonly since: number;
  readonly until?: number;
}

/** Mutable bindings. Each query reads all of them. */
export class Bindings implements AssetLookup {
  #bindings: readonly Binding[] = [];
  #generation = 0;

  constructor(bindings: readonly Binding[] = []) {
    this.replace(bindings);
  }

  replace(bindings: readonly Binding[]): void {
    this.#bindings = [...bindings].sort((a, b) => a.since - b.since);
    this.#generation++;
  }

  generation(): number {
    return this.#generation;
  }

  owners(ip: string): readonly Owner[] {
    const own = this.#bindings.filter((one) => one.ip === ip);
    return own.map(({ asset_id, since, until = Infinity }, n) => ({
      asset_id,
      from: n === 0 ? Number.NEGATIVE_INFINITY : since,
      to: Math.min(until, own[n + 1]?.since ?? Infinity),
    }));
  }

  at(ip: string, timeMs: number): string | undefined {
    return this.owners(ip).find(({ from, to }) => timeMs >= from && timeMs < to)?.asset_id;
  }

  ranges(assetId: string): readonly AddressSpan[] {
    const ips = [...new Set(this.#bindings.map(({ ip }) => ip))];
    return ips.flatMap((ip) =>
      this.owners(ip)
        .filter(({ asset_id }) => asset_id === assetId)
        .map(({ from, to }) => ({ ip, from, to })),
    );
  }
}

export const assetIds = [1, 2, 3, 4].map((n) => `0199b1c2-0000-7000-8000-00000000000${n}`);

/** Generates bindings that bind each address to several assets in turn. */
export function bindingsOf(addresses: readonly string[], times: readonly number[]): fc.Arbitrary<Binding[]> {
  const canonical = [...new Set(addresses.map((text) => printAddress(addressBytes(text)!)))];
  const binding = fc.record(
    {
      ip: fc.constantFrom(...canonical),
      asset_id: fc.constantFrom(...assetIds),
      since: fc.constantFrom(...times),
      until: fc.constantFrom(...times),
    },
    { requiredKeys: ['ip', 'asset_id', 'since'] },
  );
  const isSpan = ({ since, until = Infinity }: Binding) => since < until;
  return fc
    .uniqueArray(binding, { selector: ({ ip, since }) => `${ip} ${since}`, maxLength: 12 })
    .map((list) => list.filter(isSpan));
}
