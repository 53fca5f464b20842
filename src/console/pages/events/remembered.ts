import type { TableName } from './tables.ts';

const key = 'candor.events.columns';

function stored(): Partial<Record<TableName, string>> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

/** Returns the columns last chosen in this browser, in their URL format. */
export const rememberedColumns = (table: TableName): string | undefined => {
  const text: unknown = stored()[table];
  return typeof text === 'string' ? text : undefined;
};

export function rememberColumns(table: TableName, text: string | undefined): void {
  localStorage.setItem(key, JSON.stringify({ ...stored(), [table]: text }));
}
