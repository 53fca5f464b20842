import type { PinnedHead } from '../../state/pin-history.ts';

/**
 * Returns the sizes in the URL. Default: this browser's first pin and the newest head, or half of the log if there
 * is no smaller pin.
 */
export function comparedSizes(
  first: string | null,
  second: string | null,
  history: readonly PinnedHead[],
  newest: number | undefined,
): { first: number; second: number } | undefined {
  const later = sizeOf(second) ?? newest;
  if (later === undefined) return undefined;
  // The oldest pin of a smaller size is used, so that the comparison covers as much history as possible.
  const smaller = history.map(({ size }) => size).filter((size) => size < later);
  const earlier = sizeOf(first) ?? smaller.at(-1) ?? (later > 1 ? Math.ceil(later / 2) : undefined);
  return earlier === undefined ? undefined : { first: earlier, second: later };
}

/** Parses a size in canonical decimal form, at least 1. */
function sizeOf(text: string | null): number | undefined {
  if (text === null || !/^[1-9][0-9]*$/.test(text)) return undefined;
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : undefined;
}
