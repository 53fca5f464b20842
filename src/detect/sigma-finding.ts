import type { MatchEnds } from '../events/correlation-fact.ts';
import type { Evidence, EvidenceValue, Finding } from '../events/finding.ts';
import { mitreOf } from './attack-tags.ts';
import type { CompiledRule } from './sigma/compiled-rule.ts';
import type { Fired } from './sigma/correlation/fired.ts';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import type { Head, RuleDocument } from './sigma/document.ts';

/** What a rule found in one record. */
export function findingOf(
  { id, title, level, logsource, document }: CompiledRule,
  ends: MatchEnds,
  timestamp: number,
  event: Finding['event'],
  read: (field: string) => unknown,
): Finding {
  const category = logsource.category ?? logsource.service;
  return {
    rule_id: id,
    rule_name: title,
    severity: level,
    timestamp,
    ...ends,
    ...saidBy(document, document.description),
    ...(category === undefined ? {} : { category }),
    evidence: whatItSaw(document, read),
    ...(event === undefined ? {} : { event }),
  };
}

/** What a correlation found. Its events are not of one batch, and are given beside it. */
export function correlationFinding({ key, document }: LinkedCorrelation, fired: Fired): Finding {
  const { group, count, timestamp, ends } = fired;
  const of = group.flatMap(({ field, value }) => (value === null ? [] : [`${field} ${value}`]));
  const minutes = Math.round(document.timespanMs / 600) / 100;
  const counted = `${count} matching records within ${minutes} minutes${of.length === 0 ? '' : ` (${of.join(', ')})`}.`;
  return {
    rule_id: key,
    rule_name: document.title,
    severity: document.level ?? 'medium',
    timestamp,
    ...((ends ?? {}) as MatchEnds),
    ...saidBy(document, [document.description, counted].filter((text) => text !== undefined).join('\n')),
    category: 'correlation',
    evidence: {
      matches: count,
      within_minutes: minutes,
      ...Object.fromEntries(group.flatMap(({ field, value }) => (value === null ? [] : [[field, value]]))),
    },
  };
}

/** Fields of one finding's evidence, and characters of each: records may be no longer there to look them up in. */
const maxFields = 16;
const maxValueLength = 500;
const maxListed = 10;

/** What the record has in the fields that the rule asks for. */
function whatItSaw({ searches }: RuleDocument, read: (field: string) => unknown): Evidence {
  const seen: [string, EvidenceValue][] = [];
  for (const field of new Set(asked(searches))) {
    const value = shown(read(field));
    if (value !== undefined) seen.push([field, value]);
    if (seen.length === maxFields) break;
  }
  return Object.fromEntries(seen);
}

function* asked(searches: RuleDocument['searches']): Iterable<string> {
  for (const { alternatives } of searches.values())
    for (const items of alternatives) for (const { field } of items) if (field !== undefined) yield field;
}

function shown(value: unknown): EvidenceValue | undefined {
  if (typeof value === 'string') return value.slice(0, maxValueLength).toWellFormed();
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as boolean | number;
  if (!Array.isArray(value)) return undefined;
  const listed = value.slice(0, maxListed).map(shown);
  return listed.filter((one) => typeof one === 'string' || typeof one === 'number');
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
