/**
 * The kind of an Arrow column: texts, words (repeated texts, with a dictionary), other values as JSON texts,
 * lists of texts, times, booleans, and numbers.
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
  /** Whether items may lack the value. */
  readonly nullable: boolean;
}

/**
 * A value for each item, undefined if absent. A time is epoch milliseconds or ISO 8601 text; a number that a
 * double cannot represent exactly is its JSON text (`JSON.rawJSON`).
 */
export type ColumnValues = readonly unknown[];

/** The items of a page in columnar form. */
export interface ArrowRows {
  readonly count: number;
  valuesOf(column: ArrowColumn): ColumnValues;
}
