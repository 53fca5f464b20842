import { type Severity, severities } from '../../../contract/vocabulary.ts';

/** By the name of a filter its value or values, as the service is asked. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

const all = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

/**
 * Filters of a list as its stream takes them, which knows no set of severities, only "at or above" (`severity`) and "none
 * of" (`not_severity`). What matches is the same.
 */
export function streamFilters(filters: Filters): Filters {
  const { severity, min_severity, not_severity, ...rest } = filters;
  const wanted = all(severity);
  const unwanted = new Set(all(not_severity));
  if (wanted.length > 0)
    for (const one of severities) if (!wanted.includes(one satisfies Severity)) unwanted.add(one);
  return {
    ...rest,
    ...(min_severity !== undefined && { severity: min_severity }),
    ...(unwanted.size > 0 && { not_severity: [...unwanted] }),
  };
}
