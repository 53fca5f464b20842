import type { SilenceMatcher } from '../../../../contract/resources/silence.ts';
import { ruleSources } from '../../../../contract/vocabulary.ts';
import { foreign, wholeName } from '../../../ui/words.ts';

/** What a silence is about, as it is written and read; pure. */

/** Parts of which several values are typed, one a line. */
export const listedParts = {
  rule_id: { title: 'Rules', hint: 'As alerts name them: behaviour.port-scan', phrase: 'of rule' },
  src_ip: { title: 'Sources', hint: 'Addresses or blocks: 10.0.0.0/8', phrase: 'from' },
  dst_ip: { title: 'Targets', hint: 'Addresses or blocks', phrase: 'to' },
  ip: { title: 'Either end', hint: 'Addresses or blocks', phrase: 'from or to' },
  domain: { title: 'Names', hint: 'And those below them', phrase: 'about' },
  category: { title: 'Categories', hint: 'Of rules, whole', phrase: 'of category' },
  asset_id: { title: 'Assets', hint: 'Their identifiers; either end', phrase: 'of asset' },
} as const satisfies Partial<Record<keyof SilenceMatcher, object>>;
export type ListedPart = keyof typeof listedParts;
export const partNames = Object.keys(listedParts) as ListedPart[];

/** What stands in the form. */
export interface MatcherDraft {
  readonly lists: Readonly<Record<ListedPart, string>>;
  readonly rule_source: readonly string[];
  /** Empty for no bound. */
  readonly max_severity: string;
}

export const draftOf = (matcher: SilenceMatcher = {}): MatcherDraft => ({
  lists: Object.fromEntries(
    partNames.map((part) => [part, (matcher[part] ?? []).join('\n')]),
  ) as MatcherDraft['lists'],
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

/** Parts without a value are left out. What a value has to be, the service says. */
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

/** Whether it is about anything: how grave findings are is not enough. */
export const isAboutSomething = ({ max_severity: _, ...about }: SilenceMatcher): boolean =>
  Object.keys(about).length > 0;

/** The matcher in a line. `named` tells rules by name. */
export function matcherText(matcher: SilenceMatcher, named: (ruleId: string) => string = (id) => id): string {
  const some = (values: readonly string[]) =>
    values.length <= 3
      ? values.join(' or ')
      : `${values.slice(0, 2).join(' or ')} or ${values.length - 2} more`;
  const parts = partNames.flatMap((part) => {
    const values = matcher[part];
    if (values === undefined) return [];
    return [
      `${listedParts[part].phrase} ${some(values.map((value) => foreign(part === 'rule_id' ? named(value) : value, wholeName)))}`,
    ];
  });
  if (matcher.rule_source !== undefined) parts.push(`of rules of ${some(matcher.rule_source)}`);
  if (matcher.max_severity !== undefined) parts.push(`up to ${matcher.max_severity}`);
  return parts.join(', ');
}
