import type { MatchEnds } from '../events/correlation-fact.ts';
import { evidenceOf } from '../events/evidence.ts';
import type { Evidence, Finding } from '../events/finding.ts';
import type { Fired } from './sigma/correlation/fired.ts';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import { shownThreshold } from './sigma/correlation/threshold.ts';
import type { CorrelationDocument, Head, RuleDocument } from './sigma/document.ts';
import type { Accessor, JsonObject } from './sigma/record.ts';
import type { CompiledRule } from './sigma/rule-set.ts';

/** Tactics of MITRE ATT&CK for Enterprise (v16): tag name to identifier. */
const tactics: ReadonlyMap<string, string> = new Map([
  ['reconnaissance', 'TA0043'],
  ['resource-development', 'TA0042'],
  ['initial-access', 'TA0001'],
  ['execution', 'TA0002'],
  ['persistence', 'TA0003'],
  ['privilege-escalation', 'TA0004'],
  ['defense-evasion', 'TA0005'],
  ['credential-access', 'TA0006'],
  ['discovery', 'TA0007'],
  ['lateral-movement', 'TA0008'],
  ['collection', 'TA0009'],
  ['command-and-control', 'TA0011'],
  ['exfiltration', 'TA0010'],
  ['impact', 'TA0040'],
]);

/**
 * Reads the tags of the namespace `attack` (Sigma tags 2.1.0). Returns undefined if no tag names a tactic or
 * technique.
 */
export function mitreOf(tags: readonly string[]): Finding['mitre'] {
  const found = { tactics: new Set<string>(), techniques: new Set<string>() };
  for (const tag of tags) {
    const [, name] = /^attack\.(.+)$/i.exec(tag) ?? [];
    if (name === undefined) continue;
    const tactic = tactics.get(name.toLowerCase().replaceAll('_', '-'));
    if (tactic !== undefined) found.tactics.add(tactic);
    else if (/^ta\d{4}$/i.test(name)) found.tactics.add(name.toUpperCase());
    else if (/^t\d{4}(\.\d{3})?$/i.test(name)) found.techniques.add(name.toUpperCase());
  }
  if (found.tactics.size + found.techniques.size === 0) return undefined;
  return { tactics: [...found.tactics], techniques: [...found.techniques] };
}

/** Creates the finding of a rule's match in a record of one kind. */
export type FindingOf = (record: JsonObject, ends: MatchEnds, timestamp: number, event: Finding['event']) => Finding;

/**
 * Returns a function that creates findings. The function is created once per rule and kind of record, because
 * most of a finding is constant.
 */
export function findingOf(
  { id, title, level, logsource, document }: CompiledRule,
  reader: (field: string) => Accessor,
): FindingOf {
  const category = logsource.category ?? logsource.service;
  const said = {
    ...saidBy(document, document.description),
    ...(category === undefined ? {} : { category }),
  };
  const fields = askedBy(document).map((field) => ({ field, read: reader(field) }));
  return (record, ends, timestamp, event) => {
    const found = { rule_id: id, rule_name: title, severity: level, timestamp, ...ends, ...said };
    const evidence = whatIsSeen(fields, record);
    return event === undefined ? { ...found, evidence } : { ...found, evidence, event };
  };
}

/**
 * Creates the finding of a correlation. The events of the correlation come from several batches and are passed
 * separately.
 */
export function correlationFinding({ key, document }: LinkedCorrelation, fired: Fired): Finding {
  const { how, joined, group, count, timestamp, firstTimestamp, atLeast, ends, senders } = fired;
  const of = group.flatMap(({ field, value }) => (value === null ? [] : [`${field} ${value}`]));
  const value = Math.round(fired.value * 100) / 100;
  const threshold = document.threshold && shownThreshold(document.threshold);
  const bound = threshold === undefined ? '' : ` (threshold: ${threshold})`;
  const figure = `${atLeast ? 'at least ' : ''}${value}`;
  const counted = `${measured(document, figure)} in ${spanText(document.timespanMs)}${bound}${of.length === 0 ? '' : `; ${of.join(', ')}`}.`;
  return {
    rule_id: key,
    rule_name: document.title,
    severity: document.level ?? 'medium',
    timestamp,
    began: firstTimestamp,
    ...(how === 'begins' ? {} : { continues: 'grown' }),
    ...(joined === 0 ? {} : { joined }),
    ...((ends ?? {}) as MatchEnds),
    // No address identifies the alert, because later reports may have fewer common addresses than the first report.
    keyed_by: [],
    ...(senders.length === 0 || senders.includes('') ? {} : { sensors: senders }),
    ...saidBy(document, [document.description, counted].filter((text) => text !== undefined).join('\n')),
    category: 'correlation',
    group: JSON.stringify(group.map((one) => one.value)),
    lasts_ms: document.timespanMs,
    evidence: {
      matches: count,
      value,
      ...(atLeast ? { at_least: true } : {}),
      ...(threshold === undefined ? {} : { threshold }),
      within_minutes: Math.round(document.timespanMs / 600) / 100,
      ...Object.fromEntries(group.flatMap(({ field, value }) => (value === null ? [] : [[field, value]]))),
    },
  };
}

/** Describes the compared value. */
function measured({ type, valueFields, percentile }: CorrelationDocument, value: string): string {
  const field = valueFields.join(', ');
  switch (type) {
    case 'event_count':
      return `${value} events`;
    case 'value_count':
      return `${value} distinct ${field}`;
    case 'value_sum':
      return `${field} adds up to ${value}`;
    case 'value_avg':
      return `${field} averages ${value}`;
    case 'value_percentile':
      return percentile === undefined
        ? `one value of ${field} makes up ${value} % of all values`
        : `percentile ${percentile} of ${field} is ${value}`;
    default:
      return `${value} distinct rules matched`;
  }
}

const timeUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Formats a timespan of whole seconds: `1 min 30 s`. */
function spanText(ms: number): string {
  let left = ms;
  return timeUnits
    .flatMap(([name, unit]) => {
      const whole = Math.floor(left / unit);
      left -= whole * unit;
      return whole === 0 ? [] : `${whole} ${name}`;
    })
    .join(' ');
}

/** Reads the fields of the rule from the record. */
function whatIsSeen(
  fields: readonly { readonly field: string; readonly read: Accessor }[],
  record: JsonObject,
): Evidence {
  return evidenceOf(fields.map(({ field, read }) => [field, read(record)] as const));
}

/** Returns the fields of the rule in order, without duplicates. */
function askedBy({ searches }: RuleDocument): readonly string[] {
  const items = [...searches.values()].flatMap(({ alternatives }) => alternatives.flat());
  return [...new Set(items.map(({ field }) => field))].filter((field) => field !== undefined);
}

function saidBy({ title, tags }: Head, description: string | undefined) {
  const mitre = mitreOf(tags);
  return {
    rule_source: 'sigma' as const,
    title,
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(mitre === undefined ? {} : { mitre }),
  };
}
