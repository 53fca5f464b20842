import { number } from '../../ui/numbers.ts';
import { quoted } from '../../ui/words.ts';
import type { AlertRow, Filters } from './question.ts';

/** Every alert that matches, those that are not loaded, too. */
export interface Everything {
  readonly filter: Filters;
  readonly total: number;
}

/** What is acted on: those that are named, or all that match. */
export type Target = { readonly rows: readonly AlertRow[] } | Everything;

/** What a change did not come to. */
export interface Undone {
  /** Those it was not done to. */
  readonly left: Target;
  /** What failed, in words. */
  readonly what: string;
  readonly error: unknown;
}

/** Where all that match are selected, those that are loaded stand for them; one alone is meant alone. */
export const targetOf = (rows: readonly AlertRow[], everything: Everything | undefined): Target =>
  everything !== undefined && rows.length > 1 ? everything : { rows };

/** What a target is called before something is done to it. */
export function nameOf(target: Target): string {
  const count = 'rows' in target ? target.rows.length : target.total;
  const only = 'rows' in target && count === 1 ? target.rows[0] : undefined;
  return only === undefined ? `${number(count)} alerts` : quoted(only.attributes.title);
}
