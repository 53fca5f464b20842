import type { PairIndex } from '../../sketch/pair-index.ts';

/** Returns for each service the address hashes of its clients, ascending and distinct, in one array. */
export function clientsByService(pairs: PairIndex, services: number, srcHashes: Uint32Array): Uint32Array[] {
  const ends = new Uint32Array(services);
  for (let i = 0; i < pairs.length; i++) ends[pairs.a[i]!]!++;
  for (let service = 1; service < services; service++) ends[service]! += ends[service - 1]!;
  const all = new Uint32Array(pairs.length);
  for (let i = pairs.length - 1; i >= 0; i--) all[--ends[pairs.a[i]!]!] = srcHashes[pairs.b[i]!]!;
  // After the loop, `ends` contains the starts.
  return Array.from(ends, (start, service) => distinct(all.subarray(start, ends[service + 1] ?? all.length)));
}

/** Returns distinct hashes, ascending. Sorts in place. */
function distinct(hashes: Uint32Array): Uint32Array {
  if (hashes.length < 2) return hashes;
  hashes.sort();
  let length = 1;
  for (let i = 1; i < hashes.length; i++) if (hashes[i] !== hashes[i - 1]) hashes[length++] = hashes[i]!;
  return length === hashes.length ? hashes : hashes.subarray(0, length);
}

/** Returns the union of two ascending lists of distinct hashes. */
export function united(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return distinct(both);
}
