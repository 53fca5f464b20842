import { limits } from '../limits.ts';
import type { Evidence, EvidenceValue } from './finding.ts';

/** Maximum fields of a finding's evidence. Evidence is stored because its records may not exist later. */
const maxFields = 16;
const maxValueLength = 500;
const maxListed = 10;

/**
 * Returns at most `maxFields` values, in order: texts, numbers, flags, and lists of texts and numbers. Leaves out
 * numbers beyond `limits.maxEventCount`, and truncates long texts and lists.
 */
export function evidenceOf(given: Iterable<readonly [name: string, value: unknown]>): Evidence {
  const seen: [string, EvidenceValue][] = [];
  for (const [name, value] of given) {
    const known = shown(value);
    if (known !== undefined) seen.push([name, known]);
    if (seen.length === maxFields) break;
  }
  return Object.fromEntries(seen);
}

function shown(value: unknown): EvidenceValue | undefined {
  if (typeof value === 'string') return value.slice(0, maxValueLength).toWellFormed();
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Math.abs(value) <= limits.maxEventCount ? value : undefined;
  if (!Array.isArray(value)) return undefined;
  const listed = value.slice(0, maxListed).map(shown);
  return listed.filter((one) => typeof one === 'string' || typeof one === 'number');
}
