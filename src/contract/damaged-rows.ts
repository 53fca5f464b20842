/** Damaged rows that are missing from results of queries. */
const leftOut = new WeakMap<object, readonly string[]>();

/** Table and key of each damaged row that is missing from the result of a query. */
export const damagedRowsOf = (result: object): readonly string[] => leftOut.get(result) ?? [];

/** Notes in the result of a query which damaged rows it lacks, in a form that crosses threads. */
export function withDamagedRows<T>(result: T, rows: readonly string[]): T {
  if (rows.length > 0 && typeof result === 'object') Object.assign(result ?? {}, { damaged_rows: rows });
  return result;
}

/** Takes that note out of a result again, for `damagedRowsOf`. */
export function takeDamagedRows(result: unknown): readonly string[] {
  if (typeof result !== 'object' || result === null || !('damaged_rows' in result)) return [];
  const rows = result.damaged_rows as readonly string[];
  delete result.damaged_rows;
  leftOut.set(result, rows);
  return rows;
}
