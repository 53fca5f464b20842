const firstMs = 0;
const lastMs = Date.UTC(10_000, 0);

/** Returns a time from the URL if the contract accepts it (1970 to 9999), else undefined. */
export function timeIn(text: string | null): string | undefined {
  const ms = Date.parse(text ?? '');
  return text !== null && ms >= firstMs && ms < lastMs ? text : undefined;
}
