/**
 * What a column of an Arrow stream holds: texts, words (texts that come again and again, behind a dictionary), values
 * of any other shape as JSON texts, lists of texts, times, booleans, and numbers.
 */
export type ArrowKind =
  | 'text'
  | 'word'
  | 'json'
  | 'texts'
  | 'time'
  | 'flag'
  | 'real'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32';

export interface ArrowColumn {
  readonly name: string;
  readonly kind: ArrowKind;
  /** Whether an item may be without it. */
  readonly nullable: boolean;
}

/**
 * A value for each item, undefined where it has none. A time is epoch milliseconds or ISO 8601 text; a number beyond
 * what a double holds exactly stands as the JSON it was written in (`JSON.rawJSON`).
 */
export type ColumnValues = readonly unknown[];

/** The items of a page by columns. */
export interface ArrowRows {
  readonly count: number;
  valuesOf(column: ArrowColumn): ColumnValues;
}
