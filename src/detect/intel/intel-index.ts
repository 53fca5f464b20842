/**
 * The indicators of one list in one buffer, which is searched in place. 500,000 names of 28 characters take 26 MB;
 * 500,000 IPv4 addresses take 12 MB.
 *
 * ```
 *   head        12 words: the lengths of the parts
 *   from until  words, one for every indicator: seconds since 1970; 0 without a bound
 *   v4 v6       sorted addresses, 1 and 4 words each; their prefix lengths are in `prefixes`
 *   nameEnds    end of each name in `names`
 *   slots       hash tables with linear probing, for v4, v6 and names: hash → index of the indicator + 1
 *   labelEnds   end of each label in `labels`
 *   label       half words, one for every indicator: index of its label + 1
 *   weight      bytes, one for every indicator: confidence (127: none), and 128 for an exact name
 *   prefixes    bytes, for v4 and for v6
 *   names       ASCII, sorted
 *   labels      UTF-8
 * ```
 *
 * An address is looked up once for each prefix length of the list. A name is looked up once as a whole, and once for
 * each parent domain.
 */

import { limits } from '../../limits.ts';
import { addressWord, ipv4Of, parseAddress, printAddress, printIpv4 } from '../../net/ip.ts';
import { finish, fnvStep } from '../../sketch/hash.ts';
import type { Indicator } from './indicator.ts';

const version = 1;
const headWords = 12;
const noConfidence = 127;
const exactBit = 128;

/** An indicator and its properties. Times are epoch milliseconds. */
export interface IndexedIndicator {
  readonly kind: 'address' | 'domain';
  readonly text: string;
  readonly exact: boolean;
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** Confidence, 0–100. */
  readonly confidence: number | undefined;
  readonly label: string | undefined;
}

/** Lengths of the parts of the buffer, in the order in which the head contains them. */
interface Lengths {
  readonly seed: number;
  readonly v4: number;
  readonly v6: number;
  readonly names: number;
  readonly slots4: number;
  readonly slots6: number;
  readonly slotsOfNames: number;
  readonly nameBytes: number;
  readonly labels: number;
  readonly labelBytes: number;
}

/** Creates views of the parts of a buffer. */
function partsOf(buffer: ArrayBuffer, lengths: Lengths) {
  let at = 4 * headWords;
  const take = (bytes: number) => {
    const start = at;
    at += bytes;
    return start;
  };
  const words = (length: number) => new Uint32Array(buffer, take(4 * length), length);
  const bytes = (length: number) => new Uint8Array(buffer, take(length), length);
  const count = lengths.v4 + lengths.v6 + lengths.names;
  return {
    from: words(count),
    until: words(count),
    v4: words(lengths.v4),
    v6: words(4 * lengths.v6),
    nameEnds: words(lengths.names),
    slots4: words(lengths.slots4),
    slots6: words(lengths.slots6),
    slotsOfNames: words(lengths.slotsOfNames),
    labelEnds: words(lengths.labels),
    label: new Uint16Array(buffer, take(2 * count), count),
    weight: bytes(count),
    prefixes4: bytes(lengths.v4),
    prefixes6: bytes(lengths.v6),
    names: bytes(lengths.nameBytes),
    labels: bytes(lengths.labelBytes),
  };
}

type Parts = ReturnType<typeof partsOf>;

function bytesOf({ v4, v6, names, ...rest }: Lengths): number {
  const words =
    headWords +
    2 * (v4 + v6 + names) +
    v4 +
    4 * v6 +
    names +
    rest.slots4 +
    rest.slots6 +
    rest.slotsOfNames +
    rest.labels;
  return 4 * words + 3 * (v4 + v6 + names) + v4 + v6 + rest.nameBytes + rest.labelBytes;
}

/** Returns the number of slots for `count` entries: a power of two that leaves at least a third of the slots free. */
const slotsFor = (count: number): number => (count === 0 ? 0 : 2 ** Math.ceil(Math.log2(1.5 * count + 1)));

/** @param seed - 32 random bits, equal for all lists, and unknown to authors of lists and events */
export function encodeIndicators(indicators: Iterable<Indicator>, seed: number): ArrayBuffer {
  const { v4, v6, names } = sortedOut(indicators);
  const { labels, numberOf } = labelsOf([...v4, ...v6, ...names].map(({ indicator }) => indicator));
  const nameBytes = names.reduce((sum, { indicator }) => sum + indicator.text.length, 0);
  const lengths: Lengths = {
    seed: seed >>> 0,
    v4: v4.length,
    v6: v6.length,
    names: names.length,
    slots4: slotsFor(v4.length),
    slots6: slotsFor(v6.length),
    slotsOfNames: slotsFor(names.length),
    nameBytes,
    labels: labels.length,
    labelBytes: labels.reduce((sum, { length }) => sum + length, 0),
  };
  const buffer = new ArrayBuffer(bytesOf(lengths));
  new Uint32Array(buffer, 0, headWords).set([version, ...Object.values(lengths)]);
  const parts = partsOf(buffer, lengths);
  let place = 0;
  const describe = (indicator: Indicator) => {
    const { from, until, confidence = noConfidence } = indicator;
    parts.from[place] = seconds(from);
    parts.until[place] = seconds(until);
    parts.label[place] = numberOf(indicator);
    const isExact = indicator.kind === 'domain' && indicator.exact;
    parts.weight[place] = confidence | (isExact ? exactBit : 0);
    place++;
  };
  v4.forEach(({ indicator, word, prefix }, n) => {
    parts.v4[n] = word;
    parts.prefixes4[n] = prefix;
    insert(parts.slots4, hashOf4(word, prefix, seed), n);
    describe(indicator);
  });
  v6.forEach(({ indicator, words, prefix }, n) => {
    parts.v6.set(words, 4 * n);
    parts.prefixes6[n] = prefix;
    insert(parts.slots6, hashOf6(words, prefix, seed), n);
    describe(indicator);
  });
  let end = 0;
  names.forEach(({ indicator }, n) => {
    const { text } = indicator;
    for (let i = 0; i < text.length; i++) parts.names[end++] = text.charCodeAt(i);
    parts.nameEnds[n] = end;
    insert(parts.slotsOfNames, hashOfName(text, 0, seed), n);
    describe(indicator);
  });
  let labelEnd = 0;
  labels.forEach((label, n) => {
    parts.labels.set(label, labelEnd);
    labelEnd += label.length;
    parts.labelEnds[n] = labelEnd;
  });
  return buffer;
}

interface SortedOut {
  readonly v4: { readonly indicator: Indicator; readonly word: number; readonly prefix: number }[];
  readonly v6: { readonly indicator: Indicator; readonly words: Words; readonly prefix: number }[];
  readonly names: { readonly indicator: Indicator }[];
}

type Words = readonly [number, number, number, number];

function sortedOut(indicators: Iterable<Indicator>): SortedOut {
  const { v4, v6, names }: SortedOut = { v4: [], v6: [], names: [] };
  const bytes = new Uint8Array(16);
  for (const indicator of indicators) {
    if (indicator.kind === 'domain') {
      names.push({ indicator });
      continue;
    }
    const [address = '', length] = indicator.text.split('/');
    if (!parseAddress(address, bytes)) throw new Error(`${indicator.text} is not a canonical address`);
    const word = ipv4Of(bytes);
    if (word >= 0) v4.push({ indicator, word, prefix: length === undefined ? 32 : Number(length) });
    else v6.push({ indicator, words: wordsOf(bytes), prefix: length === undefined ? 128 : Number(length) });
  }
  v4.sort((a, b) => a.word - b.word || a.prefix - b.prefix);
  v6.sort((a, b) => compareWords(a.words, b.words) || a.prefix - b.prefix);
  names.sort((a, b) => (a.indicator.text < b.indicator.text ? -1 : 1));
  return { v4, v6, names };
}

const wordsOf = (bytes: Uint8Array): Words => [
  addressWord(bytes, 0),
  addressWord(bytes, 4),
  addressWord(bytes, 8),
  addressWord(bytes, 12),
];

function compareWords(a: Words, b: Words): number {
  for (let i = 0; i < 4; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}

/**
 * Returns the distinct labels, and a function that returns the label number of an indicator. Labels beyond the limit
 * are left out. The number is 0 if the indicator has no label, or if its label is left out.
 */
function labelsOf(indicators: readonly Indicator[]) {
  const numbers = new Map<string, number>();
  for (const { label } of indicators)
    if (label !== undefined && numbers.size < limits.maxIntelLabels && !numbers.has(label))
      numbers.set(label, numbers.size + 1);
  const encoder = new TextEncoder();
  return {
    labels: Array.from(numbers.keys(), (label) => encoder.encode(label)),
    numberOf: ({ label }: Indicator) => (label === undefined ? 0 : (numbers.get(label) ?? 0)),
  };
}

/** Converts a time to seconds. Fractions of a second are dropped; a time after 2106 is treated as unlimited. */
function seconds(time: number | undefined): number {
  if (time === undefined) return 0;
  const whole = Math.max(1, Math.floor(time / 1000));
  return whole < 2 ** 32 ? whole : 0;
}

function insert(slots: Uint32Array, hash: number, n: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = n + 1;
}

const hashOf4 = (word: number, prefix: number, seed: number): number => finish(finish(word ^ seed) + prefix);

function hashOf6([a, b, c, d]: Words, prefix: number, seed: number): number {
  return finish(finish(finish(finish(finish(a ^ seed) ^ b) ^ c) ^ d) + prefix);
}

/**
 * Hashes the part of a name from `start` to the end, last character first, as `hashed` does. In this order, one pass
 * over a name also yields the hashes of the parent domains.
 */
function hashOfName(name: string, start: number, seed: number): number {
  let h = seed;
  for (let i = name.length - 1; i >= start; i--) h = fnvStep(h, name.charCodeAt(i));
  return finish(h);
}

/** Starts and hashes of a name and of each parent domain, the shortest first. */
interface Hashed {
  name: string;
  seed: number;
  count: number;
  starts: readonly number[];
  hashes: readonly number[];
}

/** The result of the last call, cached because all lists use the same seed and look up the same name. */
const last: Hashed = { name: '', seed: 0, count: 0, starts: [], hashes: [] };

function hashed(name: string, seed: number): Hashed {
  if (last.name === name && last.seed === seed) return last;
  const starts: number[] = [];
  const hashes: number[] = [];
  let h = seed;
  for (let start = name.length - 1; start >= 0; start--) {
    h = fnvStep(h, name.charCodeAt(start));
    if (start > 0 && name.charCodeAt(start - 1) !== dot) continue;
    starts.push(start);
    hashes.push(finish(h));
  }
  return Object.assign(last, { name, seed, count: starts.length, starts, hashes });
}

/** Returns the prefix lengths in use, the longest first. */
function lengthsIn(prefixes: Uint8Array): number[] {
  return [...new Set(prefixes)].sort((a, b) => b - a);
}

/** Searches the buffer of a list. The index owns the buffer. */
export class IntelIndex {
  readonly #parts: Parts;
  readonly #seed: number;
  readonly #lengths4: readonly number[];
  readonly #lengths6: readonly number[];
  /** Size of the buffer in bytes. */
  readonly bytes: number;

  /** @throws Error for buffers that are not made by `encodeIndicators` */
  constructor(buffer: ArrayBuffer) {
    const head = new Uint32Array(buffer, 0, headWords);
    const [written, seed = 0, v4 = 0, v6 = 0, names = 0, slots4 = 0, slots6 = 0, slotsOfNames = 0, ...rest] = head;
    const [nameBytes = 0, labels = 0, labelBytes = 0] = rest;
    const lengths = { seed, v4, v6, names, slots4, slots6, slotsOfNames, nameBytes, labels, labelBytes };
    if (written !== version || bytesOf(lengths) !== buffer.byteLength)
      throw new Error(`the buffer of ${buffer.byteLength} bytes is not an indicator index of version ${version}`);
    this.#parts = partsOf(buffer, lengths);
    this.#seed = seed;
    this.#lengths4 = lengthsIn(this.#parts.prefixes4);
    this.#lengths6 = lengthsIn(this.#parts.prefixes6);
    this.bytes = buffer.byteLength;
  }

  get size(): number {
    return this.#parts.from.length;
  }

  /**
   * Returns the index of the most specific indicator that covers an IPv4 address; -1 without a match.
   *
   * @param good - returns true if the indicator at an index is valid
   */
  findIpv4(word: number, good: (place: number) => boolean): number {
    const { slots4, v4, prefixes4 } = this.#parts;
    if (slots4.length === 0) return -1;
    const mask = slots4.length - 1;
    for (const prefix of this.#lengths4) {
      const masked = (word & maskOf(prefix)) >>> 0;
      for (let slot = hashOf4(masked, prefix, this.#seed) & mask; slots4[slot] !== 0; slot = (slot + 1) & mask) {
        const n = slots4[slot]! - 1;
        if (v4[n] === masked && prefixes4[n] === prefix && good(n)) return n;
      }
    }
    return -1;
  }

  /** Like `findIpv4`, for an IPv6 address of 16 bytes. */
  findIpv6(bytes: Uint8Array, good: (place: number) => boolean): number {
    const { slots6, v6, prefixes6 } = this.#parts;
    if (slots6.length === 0) return -1;
    const mask = slots6.length - 1;
    const words = wordsOf(bytes);
    for (const prefix of this.#lengths6) {
      const masked = maskedWords(words, prefix);
      const [a, b, c, d] = masked;
      for (let slot = hashOf6(masked, prefix, this.#seed) & mask; slots6[slot] !== 0; slot = (slot + 1) & mask) {
        const n = slots6[slot]! - 1;
        const at = 4 * n;
        if (prefixes6[n] !== prefix || v6[at] !== a || v6[at + 1] !== b || v6[at + 2] !== c || v6[at + 3] !== d)
          continue;
        if (good(this.#parts.v4.length + n)) return this.#parts.v4.length + n;
      }
    }
    return -1;
  }

  /** Like `findIpv4`, for a name in lower-case ASCII without a final dot. */
  findName(name: string, good: (place: number) => boolean): number {
    const { slotsOfNames, weight, v4, prefixes6 } = this.#parts;
    if (slotsOfNames.length === 0) return -1;
    const base = v4.length + prefixes6.length;
    const mask = slotsOfNames.length - 1;
    let found = -1;
    const { starts, hashes, count } = hashed(name, this.#seed);
    for (let i = 0; i < count; i++) {
      const start = starts[i]!;
      for (let slot = hashes[i]! & mask; slotsOfNames[slot] !== 0; slot = (slot + 1) & mask) {
        const n = slotsOfNames[slot]! - 1;
        if (!this.#isName(n, name, start)) continue;
        if (start > 0 && (weight[base + n]! & exactBit) !== 0) continue;
        if (good(base + n)) found = base + n;
      }
    }
    return found;
  }

  /** Returns the start of validity, in seconds since 1970; 0 without a start. */
  from(place: number): number {
    return this.#parts.from[place]!;
  }

  until(place: number): number {
    return this.#parts.until[place]!;
  }

  at(place: number): IndexedIndicator {
    const { v4, v6, prefixes4, prefixes6, weight, label } = this.#parts;
    const confidence = weight[place]! & noConfidence;
    const from = this.from(place);
    const until = this.until(place);
    const ipv6At = place - v4.length;
    const isName = ipv6At >= prefixes6.length;
    let text: string;
    if (isName) text = this.#name(ipv6At - prefixes6.length);
    else if (ipv6At < 0) text = printIpv4(v4[place]!) + lengthText(prefixes4[place]!, 32);
    else text = printAddress(bytesOfWords(v6, 4 * ipv6At)) + lengthText(prefixes6[ipv6At]!, 128);
    return {
      kind: isName ? 'domain' : 'address',
      text,
      exact: (weight[place]! & exactBit) !== 0,
      from: from === 0 ? undefined : from * 1000,
      until: until === 0 ? undefined : until * 1000,
      confidence: confidence === noConfidence ? undefined : confidence,
      label: label[place] === 0 ? undefined : this.#label(label[place]! - 1),
    };
  }

  #isName(n: number, name: string, start: number): boolean {
    const { nameEnds, names } = this.#parts;
    const from = n === 0 ? 0 : nameEnds[n - 1]!;
    if (nameEnds[n]! - from !== name.length - start) return false;
    for (let i = start; i < name.length; i++) if (names[from + i - start] !== name.charCodeAt(i)) return false;
    return true;
  }

  #name(n: number): string {
    const { nameEnds, names } = this.#parts;
    return ascii.decode(names.subarray(n === 0 ? 0 : nameEnds[n - 1]!, nameEnds[n]));
  }

  #label(n: number): string {
    const { labelEnds, labels } = this.#parts;
    return ascii.decode(labels.subarray(n === 0 ? 0 : labelEnds[n - 1]!, labelEnds[n]));
  }
}

const ascii = new TextDecoder();
const dot = 46;

const lengthText = (prefix: number, whole: number): string => (prefix === whole ? '' : `/${prefix}`);

/** Returns a mask of the first bits of a word. */
const maskOf = (bits: number): number => (bits <= 0 ? 0 : bits >= 32 ? -1 : -1 << (32 - bits));

const maskedWords = (words: Words, prefix: number): Words => [
  (words[0] & maskOf(prefix)) >>> 0,
  (words[1] & maskOf(prefix - 32)) >>> 0,
  (words[2] & maskOf(prefix - 64)) >>> 0,
  (words[3] & maskOf(prefix - 96)) >>> 0,
];

function bytesOfWords(words: Uint32Array, at: number): Uint8Array {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setUint32(4 * i, words[at + i]!);
  return bytes;
}
