import type { SilenceMatcher, SilenceUpdateInput } from '../contract/resources/silence.ts';
import { ruleSources } from '../contract/vocabulary.ts';
import { invalidField } from '../errors.ts';
import { limits } from '../limits.ts';
import { addressRanges, compareAddress, ipv4Of, printAddress } from '../net/ip.ts';

/**
 * Returns a user's silence in the canonical form with which findings are compared: addresses and blocks per RFC
 * 5952 and 4632, names in lower case without a final dot, ids in lower case, times in UTC.
 *
 * @throws INVALID_REQUEST naming a blank reason, a matcher that covers nearly all alerts, or a repeated value
 */
export function canonicalSilence<I extends SilenceUpdateInput>(input: I): I {
  const { matcher, reason, expires_at } = input;
  if (reason?.trim() === '') throw invalidField('reason', 'must not be blank');
  return {
    ...input,
    ...(matcher === undefined ? {} : { matcher: canonicalMatcher(matcher) }),
    ...(expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() }),
  };
}

const lower = (text: string): string => text.toLowerCase();

/** Attributes with several spellings. */
const spellings = {
  src_ip: canonicalBlock,
  dst_ip: canonicalBlock,
  ip: canonicalBlock,
  domain: (text) => text.normalize('NFC').toLowerCase().replace(/\.$/, ''),
  asset_id: lower,
} as const satisfies Partial<Record<keyof SilenceMatcher, (text: string) => string>>;

function canonicalMatcher(matcher: SilenceMatcher): SilenceMatcher {
  const { max_severity: _, ...about } = matcher;
  if (Object.keys(about).length === 0)
    throw invalidField(
      'matcher',
      'must have one of rule_id, rule_source, category, src_ip, dst_ip, ip, domain, asset_id',
    );
  const canonical: SilenceMatcher = { ...matcher };
  for (const [name, spell] of Object.entries(spellings) as [keyof typeof spellings, (text: string) => string][]) {
    const values = matcher[name];
    if (values !== undefined) canonical[name] = canonicalList(name, values, spell);
  }
  if (isAboutAll(canonical))
    throw invalidField('matcher', 'covers nearly everything: specify a rule, an asset or smaller blocks');
  return canonical;
}

/**
 * Returns whether the matcher covers nearly all alerts: its only conditions are a maximum severity, all rule sources,
 * or blocks above the limits of one silence.
 */
function isAboutAll({ rule_id, category, domain, asset_id, ...matcher }: SilenceMatcher): boolean {
  const { rule_source, src_ip, dst_ip, ip } = matcher;
  if ([rule_id, category, domain, asset_id].some((values) => values !== undefined)) return false;
  if (rule_source !== undefined && !ruleSources.every((source) => rule_source.includes(source))) return false;
  return [src_ip, dst_ip, ip].every((blocks) => blocks === undefined || coverTooMuch(blocks));
}

/** Returns whether the blocks exceed the share of an address family that one silence may cover. */
function coverTooMuch(blocks: readonly string[]): boolean {
  let ofIpv4 = 0;
  let ofIpv6 = 0;
  for (const block of blocks) {
    const [address = '', length] = block.split('/');
    const isIpv6 = address.includes(':');
    const share = 2 ** -(length === undefined ? (isIpv6 ? 128 : 32) : Number(length));
    if (isIpv6) ofIpv6 += share;
    else ofIpv4 += share;
  }
  return ofIpv4 > limits.maxSilencedIpv4 || ofIpv6 > limits.maxSilencedIpv6;
}

function canonicalList(name: string, values: readonly string[], spell: (text: string) => string): string[] {
  const places = new Map<string, number>();
  values.forEach((value, place) => {
    const canonical = spell(value);
    const first = places.get(canonical);
    if (first !== undefined) throw invalidField(`matcher.${name}.${place}`, `repeats matcher.${name}.${first}`);
    places.set(canonical, place);
  });
  return [...places.keys()];
}

/** Returns a canonical block. Host bits are cleared; a block of one address becomes that address. */
function canonicalBlock(text: string): string {
  const [range, ...others] = addressRanges(text)!;
  const { first, last } = range!;
  if (others.length === 0 && compareAddress(first, 0, last, 0) === 0) return printAddress(first);
  const length = Number(text.slice(text.indexOf('/') + 1));
  const mapped = ipv4Of(first) >= 0 && text.includes(':');
  return `${printAddress(first)}/${mapped ? length - 96 : length}`;
}
