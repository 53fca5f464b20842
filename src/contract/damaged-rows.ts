/** Damaged rows that are missing from results of queries. */
const leftOut = new WeakMap<object, readonly string[]>();

/** Returns table and key of each damaged row that is missing from the result of a query. */
export const damagedRowsOf = (result: object): readonly string[] => leftOut.get(result) ?? [];

/**
 * Returns the result with a note of the damaged rows that the result lacks, in a form that can be sent to another
 * thread.
 */
export function withDamagedRows<T>(result: T, rows: readonly string[]): T {
  if (rows.length > 0 && typeof result === 'object') Object.assign(result ?? {}, { damaged_rows: rows });
  return result;
}

/** Removes the note from a result and records its rows for `damagedRowsOf`. Returns the rows. */
export function takeDamagedRows(result: unknown): readonly string[] {
  if (typeof result !== 'object' || result === null || !('damaged_rows' in result)) return [];
  const rows = result.damaged_rows as readonly string[];
  delete result.damaged_rows;
  leftOut.set(result, rows);
  return rows;
}
