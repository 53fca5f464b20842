import { limits } from '../limits.ts';

/** A header of Zeek TSV, as it holds for the rows of one log of one sensor. Plain data: it crosses threads. */
export interface TsvHeader {
  /** The name that the sensor goes by; empty for none. */
  readonly sensor: string;
  readonly separator: string;
  readonly setSeparator: string;
  readonly empty: string;
  readonly unset: string;
  /** Name of the log. */
  readonly path: string | undefined;
  /** As in their lines, behind the name of the line; empty where the line has not come yet. */
  readonly fields: string;
  readonly types: string;
}

/** Whether a header takes the place of an older one: of the same log, and not while its fields are still to come. */
export const replaces = (newer: TsvHeader, older: TsvHeader): boolean =>
  newer.sensor === older.sensor && newer.path === older.path && (newer.fields !== '' || older.fields === '');

/** Headers with newer ones behind them, which replace those of the same log. Past the limits the oldest are dropped. */
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
