import type { ArrowColumn, ArrowRows } from './columns.ts';

interface Item {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const decoder = new TextDecoder();

/**
 * Converts items of a list (`{"id":…,"type":…,"attributes":{…}}`), one per line, to columns of ids and
 * attributes.
 */
export function rowsOfLines(lines: Uint8Array): ArrowRows {
  const text = decoder.decode(lines);
  // No JSON text contains a newline, and each text is followed by one newline.
  const items = parse(`[${text.slice(0, -1).replaceAll('\n', ',')}]`);
  return {
    count: items.length,
    valuesOf: ({ name, kind }: ArrowColumn) => {
      if (name === 'id') return items.map(({ id }) => id);
      if (kind !== 'json') return items.map(({ attributes }) => attributes[name]);
      return items.map(({ attributes }) => JSON.stringify(attributes[name]));
    },
  };
}

/**
 * Matches numbers that may have more digits than a double can represent: log positions and times in
 * nanoseconds.
 */
const manyDigits = /[:[,]-?\d{16}/;

/** Parses items. Uses a reviver only if needed, because JSON.parse takes several times as long with a reviver. */
function parse(text: string): Item[] {
  return (manyDigits.test(text) ? JSON.parse(text, keepDigits as never) : JSON.parse(text)) as Item[];
}

/**
 * A function of the proposal "JSON.parse source text access" (in Node since 21), which the compiler's library
 * types do not contain yet.
 */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** Reviver that preserves integers that a double cannot represent, even when they are written as JSON again. */
function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return source !== undefined && /^-?\d+$/.test(source) ? rawJSON(source) : value;
}
