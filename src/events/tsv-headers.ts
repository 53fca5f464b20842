import { limits } from '../limits.ts';

/** A header of Zeek TSV, valid for the rows of one log from one sensor. Plain data: it crosses threads. */
export interface TsvHeader {
  /** The sensor's name; empty if unknown. */
  readonly sensor: string;
  readonly separator: string;
  readonly setSeparator: string;
  readonly empty: string;
  readonly unset: string;
  /** Name of the log. */
  readonly path: string | undefined;
  /** The text of the header line `#fields` after its name; empty until the line has arrived. */
  readonly fields: string;
  /** The text of the header line `#types` after its name; empty until the line has arrived. */
  readonly types: string;
}

/**
 * Returns whether a header replaces an older header: both belong to the same log of the same sensor, and the newer
 * header has fields or the older header has none.
 */
export const replaces = (newer: TsvHeader, older: TsvHeader): boolean =>
  newer.sensor === older.sensor && newer.path === older.path && (newer.fields !== '' || older.fields === '');

/**
 * Merges headers with newer headers, which replace older headers of the same log. Drops the oldest headers above the
 * limits.
 */
export function mergeHeaders(known: readonly TsvHeader[], newer: readonly TsvHeader[]): TsvHeader[] {
  const merged = [...known.filter((one) => !newer.some((other) => replaces(other, one))), ...newer];
  const kept: TsvHeader[] = [];
  let bytes = 0;
  for (const header of merged.reverse().slice(0, limits.maxTsvHeaders)) {
    bytes += header.fields.length + header.types.length;
    if (bytes <= limits.maxTsvHeaderBytes) kept.push(header);
  }
  return kept.reverse();
}
