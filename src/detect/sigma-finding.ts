import type { MatchEnds } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import { mitreOf } from './attack-tags.ts';
import type { CompiledRule } from './sigma/compiled-rule.ts';
import type { Fired } from './sigma/correlation/fired.ts';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import type { Head } from './sigma/document.ts';

/** What a rule found in one record. */
export function findingOf(
  { id, title, level, logsource, document }: CompiledRule,
  ends: MatchEnds,
  timestamp: number,
  event: Finding['event'],
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
  };
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
