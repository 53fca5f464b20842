import type { SilenceMatcher } from '../../../contract/resources/silence.ts';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { limits } from '../../../limits.ts';
import { isolateText, wholeName, words } from '../../ui/words.ts';
import type { Alert, Filters } from './question.ts';

/** Matchers of silences that are created from alerts. All functions here are pure. */

/** Fields by which such a silence can match. */
export const silenceParts = ['rule_id', 'src_ip', 'dst_ip', 'domain', 'category', 'asset_id'] as const;
export type SilencePart = (typeof silenceParts)[number];

const read: Readonly<Record<SilencePart, (alert: Alert) => readonly (string | undefined)[]>> = {
  rule_id: (alert) => [alert.rule_id],
  src_ip: (alert) => [alert.src_ip],
  dst_ip: (alert) => [alert.dst_ip],
  domain: (alert) => [alert.domain],
  category: (alert) => [alert.category],
  asset_id: (alert) => alert.asset_ids,
};

export type PartValues = Readonly<Partial<Record<SilencePart, readonly string[]>>>;

/** Returns the unique values of each field that all alerts have. */
export function valuesOf(alerts: readonly Alert[]): PartValues {
  const values: Partial<Record<SilencePart, readonly string[]>> = {};
  for (const part of silenceParts) {
    const each = alerts.map((alert) => read[part](alert).filter((value) => value !== undefined));
    if (each.every((own) => own.length > 0)) values[part] = [...new Set(each.flat())];
  }
  return values;
}

/** Returns whether a silence accepts this many values of a field. */
export const fits = (values: readonly string[]): boolean => values.length <= limits.maxSilenceValues;

/** Returns the initial selection: the rule, and the first of source, domain and target that all alerts have. */
export function firstChoice(values: PartValues): ReadonlySet<SilencePart> {
  const can = (part: SilencePart) => values[part] !== undefined && fits(values[part]);
  const end = (['src_ip', 'domain', 'dst_ip'] as const).find(can);
  const chosen: readonly (SilencePart | undefined)[] = [can('rule_id') ? 'rule_id' : undefined, end];
  return new Set(chosen.filter((part) => part !== undefined));
}

export function matcherOf(values: PartValues, chosen: ReadonlySet<SilencePart>, most: Severity): SilenceMatcher {
  const parts = silenceParts.filter((part) => chosen.has(part) && values[part] !== undefined);
  return { ...Object.fromEntries(parts.map((part) => [part, [...values[part]!]])), max_severity: most };
}

/** Returns filters for the alerts that the silence matches, except alerts about subdomains of a silenced domain. */
export function silencedFilters({ max_severity, ...parts }: SilenceMatcher): Filters {
  return {
    ...(parts as Filters),
    ...(max_severity !== undefined && {
      severity: severities.slice(0, severities.indexOf(max_severity) + 1),
    }),
  };
}

/** Returns the highest severity of the alerts; informational for an empty list. */
export const highestSeverity = (alerts: readonly Alert[]): Severity =>
  alerts.reduce<Severity>(
    (most, { severity }) => (severities.indexOf(severity) > severities.indexOf(most) ? severity : most),
    'informational',
  );

const phrases: Readonly<Record<SilencePart, string>> = {
  rule_id: 'with rule',
  src_ip: 'from',
  dst_ip: 'to',
  domain: 'about',
  category: 'in category',
  asset_id: 'involving asset',
};

/** Describes the matcher in a sentence. `named` returns the text shown for a value, such as a rule's name. */
export function sentence(matcher: SilenceMatcher, named: (part: SilencePart, value: string) => string): string {
  const parts = silenceParts.flatMap((part) => {
    const values = matcher[part];
    if (values === undefined) return [];
    const shown = values.slice(0, 3).map((value) => isolateText(named(part, value), wholeName));
    if (values.length > shown.length) shown.push(`${values.length - shown.length} more`);
    return `${phrases[part]} ${shown.join(' or ')}${part === 'domain' ? ' and subdomains' : ''}`;
  });
  const up = matcher.max_severity === undefined ? '' : `, up to severity ${words(matcher.max_severity)}`;
  return `Silences alerts ${parts.join(' ')}${up}.`;
}
