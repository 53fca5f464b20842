import type { PinnedHead } from '../../state/pin-history.ts';

/**
 * The two sizes that an address names, or what is most telling: from this browser's first pin to the newest head; from half
 * of the log where it has pinned no smaller one.
 */
export function comparedSizes(
  first: string | null,
  second: string | null,
  history: readonly PinnedHead[],
  newest: number | undefined,
): { first: number; second: number } | undefined {
  const later = sizeOf(second) ?? newest;
  if (later === undefined) return undefined;
  // The first pin reaches furthest back; where it is of this very size, the largest one below it.
  const smaller = history.map(({ size }) => size).filter((size) => size < later);
  const earlier = sizeOf(first) ?? smaller.at(-1) ?? (later > 1 ? Math.ceil(later / 2) : undefined);
  return earlier === undefined ? undefined : { first: earlier, second: later };
}

/** A size in canonical decimals, from 1 on. */
function sizeOf(text: string | null): number | undefined {
  if (text === null || !/^[1-9][0-9]*$/.test(text)) return undefined;
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : undefined;
}
