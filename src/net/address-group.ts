/** The first six words of an IPv4-mapped address (RFC 4291, section 2.5.5.2). */
const mapped = [0, 0, 0, 0, 0, 0xffff];

/**
 * Returns the group that counts as one address: an IPv4 address itself, or the /64 network of an IPv6 address, because
 * all addresses of a /64 may belong to one host (RFC 4291, section 2.5.4). `address` is the text form of a peer's
 * address. Returns other texts unchanged.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const words = wordsOf(address);
  if (words === undefined) return address;
  if (mapped.every((word, n) => words[n] === word)) {
    const [high = 0, low = 0] = words.slice(6);
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${words
    .slice(0, 4)
    .map((word) => word.toString(16))
    .join(':')}::/64`;
}

/** Returns the eight words, with `::` expanded; undefined for an invalid address. */
function wordsOf(address: string): number[] | undefined {
  const [before = '', after, ...more] = address.split('::');
  if (more.length > 0) return undefined;
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const missing = 8 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 0) return undefined;
  const words = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined;
  return words.map((word) => Number.parseInt(word, 16));
}
