import type { TableName } from './tables.ts';

const key = 'candor.events.columns';

function kept(): Partial<Record<TableName, string>> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

/** The columns that were chosen last in this browser, as the address names them. */
export const rememberedColumns = (table: TableName): string | undefined => {
  const text: unknown = kept()[table];
  return typeof text === 'string' ? text : undefined;
};

export function rememberColumns(table: TableName, text: string | undefined): void {
  localStorage.setItem(key, JSON.stringify({ ...kept(), [table]: text }));
}
