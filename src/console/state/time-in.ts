const firstMs = 0;
const lastMs = Date.UTC(10_000, 0);

/** A time of the address as the contract takes it, from 1970 to 9999; what is none is as if it were not there. */
export function timeIn(text: string | null): string | undefined {
  const ms = Date.parse(text ?? '');
  return text !== null && ms >= firstMs && ms < lastMs ? text : undefined;
}
