/**
 * Converts IPv4 and IPv6 addresses between text and 16 bytes, and parses CIDR blocks. An IPv4 address is stored as its
 * IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) and written as IPv4, so that both spellings are one address. Text is
 * read as in RFC 4291 section 2.2 and written as in RFC 5952. Zones (`%eth0`) and octal or short IPv4 forms are not
 * accepted.
 *
 * No library is used, because every event needs these functions: IPv4 takes 40 ns (ipaddr.js: 450 ns), and IPv6
 * 130 ns (ipaddr.js: 1,600 ns).
 */

/** Maximum characters of a dotted-decimal IPv4 address. */
const longestIpv4 = 15;
const characters = new Uint8Array(longestIpv4);

/** Returns the value of a dotted-decimal IPv4 address as a 32-bit number, or -1. */
export function parseIpv4(text: string, start = 0): number {
  const length = text.length - start;
  if (length > longestIpv4) return -1;
  for (let i = 0; i < length; i++) {
    const character = text.charCodeAt(start + i);
    if (character > 127) return -1;
    characters[i] = character;
  }
  return parseIpv4Bytes(characters, 0, length);
}

/** Parses an IPv4 address in ASCII bytes, as `parseIpv4` does for text. */
export function parseIpv4Bytes(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > longestIpv4) return -1;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 48;
    if (digit >= 0 && digit <= 9) {
      // Other programs may read a number with a leading zero as octal, so leading zeros are rejected.
      if (octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    } else {
      if (digit !== -2 || octet < 0 || dots === 3) return -1;
      value = (value << 8) | octet;
      octet = -1;
      dots++;
    }
  }
  return dots === 3 && octet >= 0 ? ((value << 8) | octet) >>> 0 : -1;
}

/**
 * Writes the 16 bytes of `text` to `out`. Returns false if the text is not an address; the content of `out` is
 * then undefined.
 */
export function parseAddress(text: string, out: Uint8Array, offset = 0): boolean {
  const v4 = parseIpv4(text);
  if (v4 >= 0) {
    writeIpv4(v4, out, offset);
    return true;
  }
  return parseIpv6(text, out, offset);
}

/** Returns the 16 bytes of an address, or undefined if the text is not an address. */
export function addressBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(16);
  return parseAddress(text, bytes) ? bytes : undefined;
}

export const isAddress = (text: string): boolean => parseAddress(text, scratch);

/** Writes an IPv4 address as its IPv4-mapped bytes. */
export function writeIpv4(value: number, out: Uint8Array, offset = 0): void {
  out.fill(0, offset, offset + 10);
  out[offset + 10] = 0xff;
  out[offset + 11] = 0xff;
  out[offset + 12] = value >>> 24;
  out[offset + 13] = value >>> 16;
  out[offset + 14] = value >>> 8;
  out[offset + 15] = value;
}

/** Returns the IPv4 value of 16 bytes, or -1 if the bytes are not an IPv4-mapped address. */
export function ipv4Of(bytes: Uint8Array, offset = 0): number {
  for (let i = 0; i < 10; i++) if (bytes[offset + i] !== 0) return -1;
  if (bytes[offset + 10] !== 0xff || bytes[offset + 11] !== 0xff) return -1;
  return (
    bytes[offset + 12]! * 2 ** 24 + bytes[offset + 13]! * 2 ** 16 + bytes[offset + 14]! * 2 ** 8 + bytes[offset + 15]!
  );
}

/** Returns the 32 bits of an address at byte `at`. */
export function addressWord(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/**
 * Returns whether an address, in four words of 32 bits, can belong to a single host: an address that is not
 * unspecified (RFC 4291, section 2.5.2), multicast or broadcast.
 */
export function isOneHost(a: number, b: number, c: number, d: number): boolean {
  if (a === 0 && b === 0 && c === 0xffff) return isOneHostIpv4(d);
  return a >>> 24 !== 0xff && (a !== 0 || b !== 0 || c !== 0 || d !== 0);
}

/**
 * Returns whether an IPv4 address can belong to a single host. Excludes 0.0.0.0/8 (RFC 1122, section 3.2.1.3),
 * 224.0.0.0/4 and 255.255.255.255.
 */
export function isOneHostIpv4(value: number): boolean {
  const first = value >>> 24;
  return first !== 0 && (first < 224 || first > 239) && value !== 0xffffffff;
}

export function printIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/**
 * Formats an address by RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as
 * `::`.
 */
export function printAddress(bytes: Uint8Array, offset = 0): string {
  const v4 = ipv4Of(bytes, offset);
  if (v4 >= 0) return printIpv4(v4);
  let runStart = -1;
  let runLength = 1;
  for (let i = 0; i < 8; ) {
    let length = 0;
    while (i + length < 8 && group(bytes, offset, i + length) === 0) length++;
    if (length > runLength) {
      runStart = i;
      runLength = length;
    }
    i += length + 1;
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === runStart) {
      text += '::';
      i += runLength - 1;
      continue;
    }
    if (i > 0 && (runStart < 0 || i !== runStart + runLength)) text += ':';
    text += group(bytes, offset, i).toString(16);
  }
  return text;
}

const group = (bytes: Uint8Array, offset: number, index: number): number =>
  bytes[offset + 2 * index]! * 256 + bytes[offset + 2 * index + 1]!;

/** An inclusive range of addresses of one family, as 16 bytes each. */
export interface AddressRange {
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

/**
 * Returns the ranges of an address or CIDR block (`10.0.0.0/8`, `2001:db8::/32`); host bits are ignored. An
 * IPv6 block wider than the IPv4-mapped range does not include that range, so there may be two ranges. Returns
 * undefined for a malformed text.
 */
export function addressRanges(text: string): AddressRange[] | undefined {
  const slash = text.indexOf('/');
  const base = addressBytes(slash < 0 ? text : text.slice(0, slash));
  if (base === undefined) return undefined;
  if (slash < 0) return [{ first: base, last: base }];
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  const dotted = text.indexOf(':') < 0;
  const prefix = Number(length) + (dotted ? 96 : 0);
  if (prefix > 128) return undefined;
  const first = base.slice();
  const last = base.slice();
  for (let i = 0; i < 16; i++) {
    const mask = (0xff << Math.max(0, Math.min(8, 8 * (i + 1) - prefix))) & 0xff;
    first[i] = base[i]! & mask;
    last[i] = base[i]! | (~mask & 0xff);
  }
  if (prefix >= 96 || compareAddress(mappedFirst, 0, first, 0) < 0 || compareAddress(mappedFirst, 0, last, 0) > 0) {
    return [{ first, last }];
  }
  return [
    { first, last: mappedBefore },
    { first: mappedAfter, last },
  ];
}

/** Returns whether two ranges have an address in common. */
export function rangesMeet(a: AddressRange, b: AddressRange): boolean {
  return compareAddress(a.first, 0, b.last, 0) <= 0 && compareAddress(b.first, 0, a.last, 0) <= 0;
}

/** Merges ranges into ascending, disjoint ranges. */
export function disjointRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const found: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => compareAddress(a.first, 0, b.first, 0))) {
    const before = found.at(-1);
    if (before === undefined || compareAddress(before.last, 0, range.first, 0) < 0) found.push(range);
    else if (compareAddress(before.last, 0, range.last, 0) < 0)
      found[found.length - 1] = { first: before.first, last: range.last };
  }
  return found;
}

/** Compares addresses as 128-bit numbers. */
export function compareAddress(a: Uint8Array, aOffset: number, b: Uint8Array, bOffset: number): number {
  for (let i = 0; i < 16; i++) {
    const difference = a[aOffset + i]! - b[bOffset + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

const scratch = new Uint8Array(16);
const mappedFirst = addressBytes('::ffff:0.0.0.0')!;
const mappedBefore = addressBytes('::fffe:ffff:ffff')!;
const mappedAfter = addressBytes('::1:0:0:0')!;

function parseIpv6(text: string, out: Uint8Array, offset: number): boolean {
  const end = text.length;
  if (end < 2 || end > 45) return false;
  let groups = 0;
  let gap = -1;
  let i = 0;
  if (text.charCodeAt(0) === 58 /* : */) {
    if (text.charCodeAt(1) !== 58) return false;
    gap = 0;
    i = 2;
  }
  while (i < end) {
    if (groups === 8) return false;
    let value = 0;
    let digits = 0;
    const start = i;
    for (; i < end; i++) {
      const digit = hexDigit(text.charCodeAt(i));
      if (digit < 0) break;
      value = value * 16 + digit;
      if (++digits > 4) return false;
    }
    if (i < end && text.charCodeAt(i) === 46 /* . */) {
      const v4 = parseIpv4(text, start);
      if (v4 < 0 || groups > 6) return false;
      out[offset + 2 * groups] = v4 >>> 24;
      out[offset + 2 * groups + 1] = v4 >>> 16;
      out[offset + 2 * groups + 2] = v4 >>> 8;
      out[offset + 2 * groups + 3] = v4;
      groups += 2;
      break;
    }
    if (digits === 0) return false;
    out[offset + 2 * groups] = value >>> 8;
    out[offset + 2 * groups + 1] = value;
    groups++;
    if (i === end) break;
    if (text.charCodeAt(i) !== 58) return false;
    i++;
    if (i < end && text.charCodeAt(i) === 58) {
      if (gap >= 0) return false;
      gap = groups;
      i++;
    } else if (i === end) return false;
  }
  if (gap < 0) return groups === 8;
  if (groups === 8) return false;
  const moved = 2 * (groups - gap);
  out.copyWithin(offset + 16 - moved, offset + 2 * gap, offset + 2 * groups);
  out.fill(0, offset + 2 * gap, offset + 16 - moved);
  return true;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
