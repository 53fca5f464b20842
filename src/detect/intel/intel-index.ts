/**
 * The indicators of one list as one buffer, which is looked things up in as it lies. Of 500,000 names of 28 characters it
 * has 26 MB, of as many IPv4 addresses 12.
 *
 * ```
 *   head        12 words: what follows has these lengths
 *   from until  words, one each for every indicator: seconds since 1970; 0 where there is no bound
 *   v4 v6       addresses in order, 1 and 4 words each; the lengths of their prefixes further down
 *   nameEnds    where each name ends in `names`
 *   slots       three tables, of v4, v6 and names: hash → place of the indicator + 1, the next slot where it is taken
 *   labelEnds   where each label ends in `labels`
 *   label       half words, one for every indicator: which label + 1
 *   weight      bytes, the same: confidence (127: none), and 128 where only the name itself is meant
 *   prefixes    bytes, of v4 and of v6
 *   names       ASCII, in order
 *   labels      UTF-8
 * ```
 *
 * An address is looked up by each length of prefix that the list has, a name by itself and by each name above it.
 */
import { addressWord, ipv4Of, parseAddress, printAddress, printIpv4 } from '../../events/ip.ts';
import { limits } from '../../limits.ts';
import { finish, fnvStep } from '../../sketch/hash.ts';
import type { Indicator } from './indicator.ts';

const version = 1;
const headWords = 12;
const noConfidence = 127;
const exactBit = 128;

/** What a list says of an indicator. Times are epoch milliseconds. */
export interface IndexedIndicator {
  readonly kind: 'address' | 'domain';
  readonly text: string;
  readonly exact: boolean;
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** 0–100. */
  readonly confidence: number | undefined;
  readonly label: string | undefined;
}

/** Lengths of the parts, as the head has them. */
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

/** The parts of a buffer, as views. */
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

/** At least a third of the slots stays free. */
const slotsFor = (count: number): number => (count === 0 ? 0 : 2 ** Math.ceil(Math.log2(1.5 * count + 1)));

/** @param seed - 32 bits that nobody who writes lists or sends events knows, the same for all lists */
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
    if (!parseAddress(address, bytes)) throw new Error(`${indicator.text} is no canonical address`);
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

/** The labels that are kept, the first that come, and which of them an indicator has, from 1; 0 for none. */
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

/** Parts of a second are not told apart; what lies after 2106 is no bound. */
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

/** Of what stands from `start` on, taken from its end: so that the names above a name are hashed on the way. */
function hashOfName(name: string, start: number, seed: number): number {
  let h = seed;
  for (let i = name.length - 1; i >= start; i--) h = fnvStep(h, name.charCodeAt(i));
  return finish(h);
}

/** A name and those above it, the shortest first: where each starts, and its hash. */
interface Hashed {
  name: string;
  seed: number;
  count: number;
  starts: readonly number[];
  hashes: readonly number[];
}

/** The last one that was asked for: all lists that share a seed ask for the same. */
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

/** The lengths of prefix that there are, the longest first. */
function lengthsIn(prefixes: Uint8Array): number[] {
  return [...new Set(prefixes)].sort((a, b) => b - a);
}

/** A list's buffer, opened. It belongs to the index from now on. */
export class IntelIndex {
  readonly #parts: Parts;
  readonly #seed: number;
  readonly #lengths4: readonly number[];
  readonly #lengths6: readonly number[];
  /** Bytes of the buffer. */
  readonly bytes: number;

  /** @throws Error for what `encodeIndicators` has not written */
  constructor(buffer: ArrayBuffer) {
    const head = new Uint32Array(buffer, 0, headWords);
    const [written, seed = 0, v4 = 0, v6 = 0, names = 0, slots4 = 0, slots6 = 0, slotsOfNames = 0, ...rest] =
      head;
    const [nameBytes = 0, labels = 0, labelBytes = 0] = rest;
    const lengths = { seed, v4, v6, names, slots4, slots6, slotsOfNames, nameBytes, labels, labelBytes };
    if (written !== version || bytesOf(lengths) !== buffer.byteLength)
      throw new Error(`${buffer.byteLength} bytes are no index of indicators of version ${version}`);
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
   * Place of the narrowest indicator that covers an IPv4 address; -1 where there is none.
   *
   * @param good - whether the indicator at a place counts
   */
  findIpv4(word: number, good: (place: number) => boolean): number {
    const { slots4, v4, prefixes4 } = this.#parts;
    if (slots4.length === 0) return -1;
    const mask = slots4.length - 1;
    for (const prefix of this.#lengths4) {
      const masked = (word & maskOf(prefix)) >>> 0;
      for (
        let slot = hashOf4(masked, prefix, this.#seed) & mask;
        slots4[slot] !== 0;
        slot = (slot + 1) & mask
      ) {
        const n = slots4[slot]! - 1;
        if (v4[n] === masked && prefixes4[n] === prefix && good(n)) return n;
      }
    }
    return -1;
  }

  /** The same of an IPv6 address, given as 16 bytes. */
  findIpv6(bytes: Uint8Array, good: (place: number) => boolean): number {
    const { slots6, v6, prefixes6 } = this.#parts;
    if (slots6.length === 0) return -1;
    const mask = slots6.length - 1;
    const words = wordsOf(bytes);
    for (const prefix of this.#lengths6) {
      const masked = maskedWords(words, prefix);
      const [a, b, c, d] = masked;
      for (
        let slot = hashOf6(masked, prefix, this.#seed) & mask;
        slots6[slot] !== 0;
        slot = (slot + 1) & mask
      ) {
        const n = slots6[slot]! - 1;
        const at = 4 * n;
        if (
          prefixes6[n] !== prefix ||
          v6[at] !== a ||
          v6[at + 1] !== b ||
          v6[at + 2] !== c ||
          v6[at + 3] !== d
        )
          continue;
        if (good(this.#parts.v4.length + n)) return this.#parts.v4.length + n;
      }
    }
    return -1;
  }

  /** The narrowest indicator that covers a name in lower case ASCII without a final dot. */
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

  /** Seconds since 1970; 0 where there is none. */
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
    for (let i = start; i < name.length; i++)
      if (names[from + i - start] !== name.charCodeAt(i)) return false;
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

/** The first bits of a word. */
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
