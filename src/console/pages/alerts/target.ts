import { counted } from '../../ui/numbers.ts';
import { quoted } from '../../ui/words.ts';
import type { AlertRow, Filters } from './question.ts';

/** All matching alerts, including alerts that are not loaded. */
export interface Everything {
  readonly filter: Filters;
  readonly total: number;
}

/** The alerts to change: the listed alerts, or all that match. */
export type Target = { readonly rows: readonly AlertRow[] } | Everything;

/** A change that failed, entirely or in part. */
export interface FailedChange {
  /** The alerts to which a retry applies the change. */
  readonly left: Target;
  /** Describes the failure. */
  readonly what: string;
  readonly error: unknown;
}

/**
 * Returns all matching alerts if all are selected, else the given rows. A single row is always the only target, even if
 * all matching alerts are selected.
 */
export const targetOf = (rows: readonly AlertRow[], everything: Everything | undefined): Target =>
  everything !== undefined && rows.length > 1 ? everything : { rows };

/** Returns the name of a target for dialog titles: a quoted alert title, or a count. */
export function nameOf(target: Target): string {
  const count = 'rows' in target ? target.rows.length : target.total;
  const only = 'rows' in target && count === 1 ? target.rows[0] : undefined;
  return only === undefined ? counted(count, 'alert') : quoted(only.attributes.title);
}
