import { isUuid } from '../uuid.ts';
import { hasForeignSyntax } from './search-text.ts';

/**
 * The string formats used in schemas, with the check and the error message of each. `uuid` and `date-time`
 * are formats of JSON Schema; the other formats are defined here.
 */
export const formats = {
  uuid: { test: isUuid, reason: 'must be a valid UUID' },
  'date-time': { test: isDateTime, reason: 'must be an ISO 8601 date and time with time zone' },
  /** Format of query parameters: ISO 8601 (UTC if there is no time zone) or epoch milliseconds. */
  time: {
    test: (text) => parseTime(text) !== undefined,
    reason: 'must be an ISO 8601 time or epoch milliseconds',
  },
  ip: { test: isAddress, reason: 'must be an IPv4 or IPv6 address' },
  mac: {
    test: (text) => canonicalMac(text) !== undefined,
    reason: 'must be a unicast MAC address, such as 00:1b:63:84:45:e6',
  },
  /** Identifies an asset on the network: an IP or MAC address. */
  identifier: {
    test: (text) => isAddress(text) || canonicalMac(text) !== undefined,
    reason: 'must be an IP or MAC address',
  },
  hostname: {
    test: isHostname,
    reason: 'must be a host name: up to 253 characters, labels of letters, digits, - and _ joined by dots',
  },
  /** A filter of host names. */
  'host-pattern': {
    test: (text) => !hasForeignSyntax(text),
    reason:
      'must be a name, in which * matches any characters; leave out regular expressions, operators, quotes, ? and % (repeat the filter for OR)',
  },
  /** One line of text. */
  line: {
    test: (text) => !/[\p{Cc}\u2028\u2029]/u.test(text),
    reason: 'must be one line without control characters',
  },
  /** Lines of text. */
  lines: {
    test: (text) => !/(?![\t\n\r])\p{Cc}/u.test(text),
    reason: 'must not contain control characters except line endings and tabs',
  },
  /** An IP address or a CIDR block. */
  network: { test: isNetwork, reason: 'must be an IPv4 or IPv6 address or a CIDR block' },
  /** A hash in a parameter: hexadecimal in either case. */
  hex32: { test: (text) => /^[0-9a-f]{64}$/i.test(text), reason: 'must be 64 hexadecimal digits' },
} as const satisfies Record<string, { test(text: string): boolean; reason: string }>;

export type Format = keyof typeof formats;

/**
 * Checks for RFC 3339, section 5.6, with a valid date. Leap seconds are rejected because epoch milliseconds cannot
 * represent them.
 */
function isDateTime(text: string): boolean {
  return /T.*(Z|[+-]\d\d:\d\d)$/.test(text) && isoTime(text) !== undefined;
}

/** Parses an ISO 8601 date or time, or an integer, to epoch milliseconds; undefined for anything else. */
export function parseTime(text: string): number | undefined {
  if (!/^(0|-?[1-9][0-9]{0,15})$/.test(text)) return isoTime(text);
  const time = Number(text);
  return Math.abs(time) <= 8.64e15 ? time : undefined;
}

const iso =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|([+-])([01]\d|2[0-3]):([0-5]\d))?)?$/;

/** Parses ISO 8601. Digits below a millisecond are truncated. A time without a zone is UTC. */
function isoTime(text: string): number | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  date.setUTCHours(Number(hour), Number(minute), Number(second), milliseconds);
  const offset = (Number(match[10] ?? 0) * 60 + Number(match[11] ?? 0)) * 60_000;
  return date.getTime() + (match[9] === '-' ? offset : -offset);
}

export function isAddress(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

const macForms = /^(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})$/i;

/**
 * Returns a 48-bit MAC address, written `aa:bb:cc:dd:ee:ff`, `aa-bb-cc-dd-ee-ff` or `aabb.ccdd.eeff`, in lower case
 * with colons. Returns undefined for other texts, for all zeros, and for addresses with the group bit (IEEE 802,
 * section 8.2): multicast and broadcast.
 */
export function canonicalMac(text: string): string | undefined {
  if (!macForms.test(text)) return undefined;
  const digits = text.replaceAll(/[:.-]/g, '').toLowerCase();
  if ((Number.parseInt(digits.slice(0, 2), 16) & 1) === 1 || /^0+$/.test(digits)) return undefined;
  return digits.match(/../g)!.join(':');
}

const label = /^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$/u;

/**
 * Checks for a name of RFC 1123, section 2.1, plus underscores and letters of all scripts. A trailing dot is accepted;
 * IP addresses are not.
 */
function isHostname(text: string): boolean {
  const name = text.replace(/\.$/, '');
  return name.length <= 253 && !isAddress(name) && name.split('.').every((part) => label.test(part));
}

function isNetwork(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return isAddress(text);
  const address = text.slice(0, slash);
  const prefix = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix)) return false;
  return (isIPv4(address) && Number(prefix) <= 32) || (isIPv6(address) && Number(prefix) <= 128);
}

/** Checks for four decimal bytes. Leading zeros are rejected because some parsers read them as octal. */
function isIPv4(text: string): boolean {
  return /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(text);
}

/** Checks for RFC 4291, section 2.2, without zone identifiers. */
function isIPv6(text: string): boolean {
  if (text.length > 45 || !text.includes(':')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [n, half] of halves.entries()) {
    if (half === '') continue;
    const parts = half.split(':');
    for (const [m, part] of parts.entries()) {
      const last = n === halves.length - 1 && m === parts.length - 1;
      if (/^[0-9a-f]{1,4}$/i.test(part)) groups += 1;
      else if (last && isIPv4(part)) groups += 2;
      else return false;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}
