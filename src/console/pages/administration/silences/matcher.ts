import type { SilenceMatcher } from '../../../../contract/resources/silence.ts';
import { ruleSources } from '../../../../contract/vocabulary.ts';
import { isolateText, wholeName } from '../../../ui/words.ts';

/** Silence matchers: the state of their form, and their description. */

/** Matchers that take several values, typed one per line. */
export const listedParts = {
  rule_id: { title: 'Rules', hint: 'Rule IDs as in alerts: behaviour.port-scan', phrase: 'rule' },
  src_ip: { title: 'Sources', hint: 'Addresses or CIDR blocks: 10.0.0.0/8', phrase: 'from' },
  dst_ip: { title: 'Destinations', hint: 'Addresses or CIDR blocks', phrase: 'to' },
  ip: { title: 'Source or destination', hint: 'Addresses or CIDR blocks', phrase: 'from or to' },
  domain: { title: 'Domains', hint: 'Includes subdomains', phrase: 'domain' },
  category: { title: 'Categories', hint: 'Full category names', phrase: 'category' },
  asset_id: { title: 'Assets', hint: 'Asset IDs; source or destination', phrase: 'asset' },
} as const satisfies Partial<Record<keyof SilenceMatcher, object>>;
export type ListedPart = keyof typeof listedParts;
export const partNames = Object.keys(listedParts) as ListedPart[];

/** State of the form. `lists` are texts with one value per line. */
export interface MatcherDraft {
  readonly lists: Readonly<Record<ListedPart, string>>;
  readonly rule_source: readonly string[];
  /** The highest severity that the silence matches; empty if there is no limit. */
  readonly max_severity: string;
}

export const draftOf = (matcher: SilenceMatcher = {}): MatcherDraft => ({
  lists: Object.fromEntries(partNames.map((part) => [part, (matcher[part] ?? []).join('\n')])) as MatcherDraft['lists'],
  rule_source: matcher.rule_source ?? [],
  max_severity: matcher.max_severity ?? '',
});

const valuesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** Returns the matcher without empty parts. Only the service validates the values. */
export function matcherOf({ lists, rule_source, max_severity }: MatcherDraft): SilenceMatcher {
  const parts = partNames.flatMap((part) => {
    const values = valuesOf(lists[part]);
    return values.length === 0 ? [] : [[part, values] as const];
  });
  const sources = ruleSources.filter((source) => rule_source.includes(source));
  return {
    ...Object.fromEntries(parts),
    ...(sources.length > 0 && { rule_source: sources }),
    ...(max_severity !== '' && { max_severity }),
  } as SilenceMatcher;
}

/** Returns whether the matcher has a part other than the severity. The severity alone is not a valid matcher. */
export const isAboutSomething = ({ max_severity: _, ...about }: SilenceMatcher): boolean =>
  Object.keys(about).length > 0;

/** Describes the matcher in one line. `named` returns the name of a rule. */
export function matcherText(matcher: SilenceMatcher, named: (ruleId: string) => string = (id) => id): string {
  const some = (values: readonly string[]) =>
    values.length <= 3 ? values.join(' or ') : `${values.slice(0, 2).join(' or ')} or ${values.length - 2} more`;
  const parts = partNames.flatMap((part) => {
    const values = matcher[part];
    if (values === undefined) return [];
    return [
      `${listedParts[part].phrase} ${some(values.map((value) => isolateText(part === 'rule_id' ? named(value) : value, wholeName)))}`,
    ];
  });
  if (matcher.rule_source !== undefined) parts.push(`rules from ${some(matcher.rule_source)}`);
  if (matcher.max_severity !== undefined) parts.push(`up to ${matcher.max_severity}`);
  return parts.join(', ');
}
