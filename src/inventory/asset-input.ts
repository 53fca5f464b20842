import { canonicalMac } from '../contract/formats.ts';
import type { AssetInput, AssetUpdateInput } from '../contract/resources/asset.ts';
import { invalidField } from '../errors.ts';
import { addressBytes, addressWord, isOneHost, printAddress } from '../net/ip.ts';

/**
 * Returns a user's input about an asset in canonical form: addresses per RFC 5952, MAC addresses lowercase
 * with colons, host names lowercase without a final dot.
 *
 * @throws INVALID_REQUEST naming a blank name, an address that no single host can have, or a repeated element
 */
export function canonicalAsset<I extends AssetUpdateInput>(input: I): I {
  if (input.name?.trim() === '') throw invalidField('name', 'must not be blank');
  const canonical: AssetUpdateInput = { ...input };
  for (const [field, read] of Object.entries(lists) as [keyof typeof lists, Read][]) {
    const values = input[field];
    if (values !== undefined) canonical[field] = canonicalList(field, values, read);
  }
  return canonical as I;
}

/** Returns the IP and MAC addresses to split off, in the form of `canonicalAsset`. */
export function canonicalIdentifiers(identifiers: readonly string[]): string[] {
  return canonicalList('identifiers', identifiers, (text, field) => canonicalMac(text) ?? hostAddress(text, field));
}

/**
 * Requires that the input identifies an asset.
 *
 * @throws INVALID_REQUEST naming `name` if the input does not identify an asset
 */
export function requireIdentity({ name, ip_addresses, mac_addresses, hostnames }: AssetInput): void {
  const lists = [ip_addresses, mac_addresses, hostnames];
  if (name === undefined && lists.every((list) => list === undefined || list.length === 0))
    throw invalidField('name', 'is required unless ip_addresses, mac_addresses or hostnames are given');
}

type Read = (text: string, field: string) => string;

const lists = {
  ip_addresses: hostAddress,
  mac_addresses: (text) => canonicalMac(text) ?? text,
  hostnames: (text) => text.toLowerCase().replace(/\.$/, ''),
  tags: (text) => text,
} as const satisfies Record<string, Read>;

function canonicalList(field: string, values: readonly string[], read: Read): string[] {
  const places = new Map<string, number>();
  values.forEach((value, place) => {
    const canonical = read(value, `${field}.${place}`);
    const first = places.get(canonical);
    if (first !== undefined) throw invalidField(`${field}.${place}`, `repeats ${field}.${first}`);
    places.set(canonical, place);
  });
  return [...places.keys()];
}

function hostAddress(text: string, field: string): string {
  const bytes = addressBytes(text)!;
  const [a, b, c, d] = [0, 4, 8, 12].map((at) => addressWord(bytes, at)) as [number, number, number, number];
  if (!isOneHost(a, b, c, d))
    throw invalidField(
      field,
      'must be the address of a single host, not a multicast, broadcast or unspecified address',
    );
  return printAddress(bytes);
}
