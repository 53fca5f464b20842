import { assignedNumbers } from '../net/assigned-numbers.ts';
import { memoize } from './memoize.ts';

/*
 * Names of the numbers in DNS messages (IANA "Domain Name System (DNS) Parameters"). Sensors spell some names
 * differently: Zeek's NOTIMP and `*`, Suricata's FORMERROR and SERVERROR, mixed case.
 */

const upper = memoize((name) => name.toUpperCase());

/** Response codes. Codes from 16 come from EDNS or TSIG (RFC 6895, section 2.3). */
const nameOfRcode = new Map(
  assignedNumbers(`
    0 NOERROR, 1 FORMERR, 2 SERVFAIL, 3 NXDOMAIN, 4 NOTIMP, 5 REFUSED, 6 YXDOMAIN, 7 YXRRSET, 8 NXRRSET,
    9 NOTAUTH, 10 NOTZONE, 11 DSOTYPENI, 16 BADVERS, 17 BADKEY, 18 BADTIME, 19 BADMODE, 20 BADNAME, 21 BADALG,
    22 BADTRUNC, 23 BADCOOKIE
  `),
);

const rcodeOfName = new Map<string, number>([
  ...[...nameOfRcode].map(([number, name]) => [name, number] as const),
  ['FORMERROR', 1],
  ['SERVERROR', 2],
  ['NAMEERROR', 3],
  ['NOTIMPL', 4],
  ['BADSIG', 16],
]);

/** Returns the number of a response code in any spelling; undefined for unknown names. */
export function rcodeOf(name: string): number | undefined {
  return rcodeOfName.get(upper(name));
}

/** Returns the IANA name, or the sensor's name in upper case. */
export function rcodeName(name: string): string {
  const inUpper = upper(name);
  const number = rcodeOfName.get(inUpper);
  return (number === undefined ? undefined : nameOfRcode.get(number)) ?? inUpper;
}

/** Returns the name of a response code; `RCODE` and the number for a code without a name. */
export function rcodeNameOf(number: number): string {
  return nameOfRcode.get(number) ?? `RCODE${number}`;
}

const nameOfType = new Map(
  assignedNumbers(`
    1 A, 2 NS, 5 CNAME, 6 SOA, 10 NULL, 12 PTR, 13 HINFO, 15 MX, 16 TXT, 28 AAAA, 29 LOC, 32 NB, 33 SRV,
    35 NAPTR, 39 DNAME, 41 OPT, 43 DS, 44 SSHFP, 46 RRSIG, 47 NSEC, 48 DNSKEY, 50 NSEC3, 52 TLSA, 64 SVCB,
    65 HTTPS, 99 SPF, 249 TKEY, 250 TSIG, 251 IXFR, 252 AXFR, 255 ANY, 257 CAA
  `),
);

/** Returns the name of a type. Zeek writes `*` for 255. */
export function typeName(name: string): string {
  return name === '*' ? 'ANY' : upper(name);
}

export function typeNameOf(number: number): string {
  return nameOfType.get(number) ?? `TYPE${number}`;
}

const classNames = new Map<string, string>([
  ['C_INTERNET', 'IN'],
  ['C_CHAOS', 'CH'],
  ['C_HESIOD', 'HS'],
  ['C_NONE', 'NONE'],
  ['C_ANY', 'ANY'],
  ['*', 'ANY'],
]);

/** Returns the name of a class as in RFC 1035 and RFC 2136, from Zeek's name. */
export function className(name: string): string {
  return classNames.get(name) ?? name;
}

const nameOfClass = new Map(assignedNumbers('1 IN, 3 CH, 4 HS, 254 NONE, 255 ANY'));

export function classNameOf(number: number): string {
  return nameOfClass.get(number) ?? `CLASS${number}`;
}

/** One record of an answer section. */
export interface Answer {
  readonly type: string | undefined;
  /** Time to live in seconds. */
  readonly ttl: number | undefined;
  readonly data: string;
}

/**
 * Returns the answers as the JSON text of the column, `[{type, ttl, data}, …]`; undefined for an empty list.
 */
export function writeAnswers(answers: readonly Answer[]): string | undefined {
  return answers.length === 0 ? undefined : JSON.stringify(answers);
}
