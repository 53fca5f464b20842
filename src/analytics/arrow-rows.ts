import type { ArrowColumn, ArrowRows } from './arrow-columns.ts';

interface Item {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const decoder = new TextDecoder();

/** Items of a list (`{"id":…,"type":…,"attributes":{…}}`), one a line: their ids and attributes by columns. */
export function rowsOfLines(lines: Uint8Array): ArrowRows {
  const text = decoder.decode(lines);
  // No line has a line end inside, and each has one behind it.
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

/** Digits that may be more than a double has: those of log positions and times in nanoseconds. */
const manyDigits = /[:[,]-?\d{16}/;

/** With a reviver, JSON.parse takes several times as long. */
function parse(text: string): Item[] {
  return (manyDigits.test(text) ? JSON.parse(text, keepDigits as never) : JSON.parse(text)) as Item[];
}

/** Newer than the library that the compiler knows (proposal "JSON.parse source text access", in Node since 21). */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** Integers that a double doesn't hold stay what they were, here and in the JSON that is made of them again. */
function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return source !== undefined && /^-?\d+$/.test(source) ? rawJSON(source) : value;
}
