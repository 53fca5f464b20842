import { limits } from '../limits.ts';
import type { JsonObject } from './fields.ts';
import { reject } from './rejection.ts';

/**
 * Zeek's own format: columns between tabs, described by header lines that may come anywhere and hold from there on
 * (a body can be several files after each other).
 *
 *   #separator \x09                      written in escapes, after a space
 *   #set_separator <tab> ,               between the elements of sets and vectors
 *   #empty_field   <tab> (empty)         a set, vector or text without anything in it
 *   #unset_field   <tab> -               no value
 *   #path          <tab> conn            the log
 *   #fields        <tab> ts <tab> uid …  the columns
 *   #types         <tab> time …          what they hold
 *
 * Rows become the objects that Zeek's JSON would be, so that both are read by the same code.
 */
export class ZeekTsv {
  #separator = '\t';
  #setSeparator = ',';
  #empty = '(empty)';
  #unset = '-';
  #columns: readonly Column[] | undefined;
  #names: readonly string[] = [];
  /** Name of the log that rows belong to. */
  path: string | undefined;

  /** True once a header described the rows that follow. */
  get open(): boolean {
    return this.#columns !== undefined;
  }

  /** A line that begins with `#`. Those that say nothing about rows (#open, #close, remarks) change nothing. */
  header(line: string): void {
    if (line.startsWith('#separator ')) {
      this.#separator = unescaped(line.slice('#separator '.length));
      this.#setSeparator = ',';
      this.#empty = '(empty)';
      this.#unset = '-';
      this.#columns = undefined;
      this.path = undefined;
      return;
    }
    const [name, ...values] = line.split(this.#separator);
    const value = values[0] ?? '';
    if (name === '#set_separator') this.#setSeparator = unescaped(value);
    else if (name === '#empty_field') this.#empty = value;
    else if (name === '#unset_field') this.#unset = value;
    else if (name === '#path') this.path = value;
    else if (name === '#fields') {
      this.#columns = undefined;
      if (values.length > limits.maxTsvColumns)
        reject('line', `has more than ${limits.maxTsvColumns} fields`);
      this.#names = values;
      this.#columns = values.map((field) => ({ name: field, kind: 'text' }));
    } else if (name === '#types') {
      if (values.length !== this.#names.length) {
        this.#columns = undefined;
        reject('line', `has ${values.length} types for ${this.#names.length} fields`);
      }
      this.#columns = this.#names.map((field, at) => ({ name: field, kind: kindOf(values[at] ?? '') }));
    }
  }

  /** One row. A column that cannot be what its type says is left as text, for the reader of the field to refuse. */
  row(line: string): JsonObject {
    const columns = this.#columns ?? reject('line', 'is a row without a #fields header before it');
    const cells = line.split(this.#separator);
    if (cells.length !== columns.length) {
      reject('line', `has ${cells.length} columns, its header ${columns.length}`);
    }
    const record: Record<string, unknown> = {};
    for (let at = 0; at < cells.length; at++) {
      const { name, kind } = columns[at] as Column;
      // Set on an object, these two would not be fields.
      if (name !== '__proto__' && name !== '') record[name] = this.#value(cells[at] as string, kind);
    }
    return record;
  }

  #value(cell: string, kind: Kind): unknown {
    if (cell === this.#unset) return undefined;
    switch (kind) {
      case 'number':
        return number(cell);
      case 'bool':
        return cell === 'T' ? true : cell === 'F' ? false : cell;
      case 'text':
        return cell === this.#empty ? '' : unescaped(cell);
      case 'texts':
      case 'numbers': {
        if (cell === this.#empty) return [];
        const element = kind === 'texts' ? 'text' : 'number';
        return cell.split(this.#setSeparator).map((part) => this.#value(part, element) ?? null);
      }
    }
  }
}

type Kind = 'text' | 'number' | 'bool' | 'texts' | 'numbers';

interface Column {
  readonly name: string;
  readonly kind: Kind;
}

const numeric = new Set(['time', 'interval', 'count', 'int', 'port', 'double']);

function kindOf(type: string): Kind {
  const [, element] = /^(?:set|table|vector)\[(.*)\]$/.exec(type) ?? [];
  if (element !== undefined) return numeric.has(element) ? 'numbers' : 'texts';
  if (numeric.has(type)) return 'number';
  return type === 'bool' ? 'bool' : 'text';
}

/** Decimal only: `Number` alone would take hexadecimal, white space and the empty text as well. */
function number(cell: string): number | string {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** `\xNN` is one byte; those next to each other are UTF-8 together. */
function unescaped(cell: string): string {
  if (!cell.includes('\\x')) return cell;
  return cell.replace(/(?:\\x[0-9a-fA-F]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString('utf8'),
  );
}
