import { expect } from 'vitest';
import type { CorrelationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';
import {
  type CorrelationLimits,
  correlationLimits,
} from '../../../../src/detect/sigma/correlation/correlation-limits.ts';
import { Correlator } from '../../../../src/detect/sigma/correlation/correlator.ts';
import { linkCorrelations } from '../../../../src/detect/sigma/correlation/link-correlations.ts';
import { parseCorrelation } from '../../../../src/detect/sigma/correlation/parse-correlation.ts';
import type { CorrelationDocument, RuleDocument } from '../../../../src/detect/sigma/document.ts';

const head = { tags: [], references: [], falsepositives: [], line: 7, lines: new Map<string, number>() };

export function rule(name: string, more: Partial<RuleDocument> = {}): RuleDocument {
  const searches = new Map();
  return { ...head, kind: 'rule', title: name, name, logsource: {}, searches, conditions: ['x'], ...more };
}

/**
 * Returns a correlation document. `section` is the correlation as in YAML: type, rules, timespan and so on.
 */
export function correlation(
  name: string,
  section: Readonly<Record<string, unknown>>,
  more: Partial<CorrelationDocument> = {},
): CorrelationDocument {
  const parsed = parseCorrelation({ 'group-by': ['host'], timespan: '10s', ...section }, () => 1);
  if (!('type' in parsed)) throw new Error(JSON.stringify(parsed));
  return { ...head, kind: 'correlation', title: name, name, ...parsed, ...more };
}

/** Links correlations with the rules that they name, all of which run. */
export function linked(...correlations: readonly CorrelationDocument[]) {
  const own = new Set(correlations.map(({ name }) => name));
  const names = new Set(correlations.flatMap(({ rules }) => rules).filter((name) => !own.has(name)));
  const result = linkCorrelations(
    [...names].map((name) => rule(name)),
    correlations,
  );
  expect(result.refused).toEqual([]);
  return result;
}

export function correlator(documents: readonly CorrelationDocument[], limits: Partial<CorrelationLimits> = {}) {
  return new Correlator(linked(...documents).correlations, { ...correlationLimits, delayMs: 0, ...limits });
}

export const now = 1_000_000_000;

/** Returns an input of the only group, unless overridden. `seconds` is the time after `now`. */
export function input(
  correlation: string,
  rule: string,
  seconds: number,
  more: Partial<CorrelationInput> = {},
): CorrelationInput {
  return {
    correlation,
    rule,
    timestamp: now + 1000 * seconds,
    group: ['h'],
    value: null,
    carried: [],
    ...more,
  };
}
