/**
 * Parses a table of names by their assigned numbers, such as ports or DNS types.
 *
 * @param table - for example `1 A, 2 NS`
 */
export function assignedNumbers(table: string): [number: number, name: string][] {
  return table.split(',').map((entry) => {
    const [, number, name = ''] = /^(\d+) (.+)$/.exec(entry.trim()) ?? [];
    return [Number(number), name];
  });
}
