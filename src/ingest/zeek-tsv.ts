import { replaces, type TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import type { JsonObject } from './fields.ts';
import { reject } from './rejection.ts';

/**
 * Zeek's own format: columns separated by tabs, described by header lines. Header lines may be anywhere and
 * apply to the rows after them (a body can consist of several files).
 *
 *   #separator \x09                      written in escapes, after a space
 *   #set_separator <tab> ,               between the elements of sets and vectors
 *   #empty_field   <tab> (empty)         an empty set, vector or text
 *   #unset_field   <tab> -               no value
 *   #path          <tab> conn            the log
 *   #fields        <tab> ts <tab> uid …  the columns
 *   #types         <tab> time …          their types
 *
 * Rows whose header was in an earlier body are matched by their columns.
 *
 * Rows become objects like those from Zeek's JSON, so that one reader handles both formats.
 */
export class ZeekTsv {
  /** Known headers; the newest header is last. */
  #known: Known[];
  /** The last header of this body. */
  #current: Known | undefined;
  /** Name of the log to which the last row belongs. */
  path: string | undefined;

  /** @param headers - from earlier bodies of the principal */
  constructor(headers: readonly TsvHeader[] = []) {
    this.#known = headers.map((header) => ({ ...header, isNew: false, columns: undefined }));
  }

  /** True if a header is known, so that rows may follow. */
  get open(): boolean {
    return this.#known.length > 0;
  }

  /** The headers in this body; undefined without headers. */
  get changed(): readonly TsvHeader[] | undefined {
    const changed = this.#known.filter(({ isNew }) => isNew);
    return changed.length === 0 ? undefined : changed.map(({ isNew: _, columns: __, ...header }) => header);
  }

  /**
   * Reads a line that begins with `#`. Lines that do not describe rows (#open, #close, comments) have no
   * effect.
   */
  header(line: string, sensor: string): void {
    if (line.startsWith('#separator ')) {
      this.#begin({ ...usual, sensor, separator: unescaped(line.slice('#separator '.length)) });
      return;
    }
    const last = this.#known.findLast((one) => one.sensor === sensor);
    const separator = last?.separator ?? usual.separator;
    const [name = '', ...values] = line.split(separator);
    if (!(name in settings)) return;
    const value = values.join(separator);
    // A header line after a complete header of an earlier body begins a new header.
    const isOver = last === undefined || (last.fields !== '' && !last.isNew && name !== '#types');
    const header = isOver ? this.#begin({ ...usual, ...last, sensor, path: undefined, fields: '', types: '' }) : last;
    header.isNew = true;
    header.columns = undefined;
    if (name === '#fields') header.types = '';
    header[settings[name as keyof typeof settings]] = name === '#set_separator' ? unescaped(value) : value;
    this.#known = [...this.#known.filter((one) => one !== header && !replaces(header, one)), header];
    this.#current = header;
    this.#requireFitting(header);
  }

  /**
   * Reads one row. A cell that does not fit its column's type remains a text, which the reader of the field
   * rejects.
   */
  row(line: string, sensor: string): JsonObject {
    let header = this.#current?.sensor === sensor ? this.#current : undefined;
    let cells = header === undefined ? [] : line.split(header.separator);
    if (header === undefined || cells.length !== columnsOf(header).length) {
      header = this.#headerOf(line, sensor);
      cells = line.split(header.separator);
    }
    this.path = header.path;
    const columns = columnsOf(header);
    const record: Record<string, unknown> = {};
    for (let at = 0; at < cells.length; at++) {
      const { name, kind } = columns[at] as Column;
      // Skips `__proto__`, which would set the prototype, and empty names, which are not fields.
      if (name !== '__proto__' && name !== '') record[name] = cellValue(cells[at] as string, kind, header);
    }
    return record;
  }

  #begin(header: TsvHeader): Known {
    const known = { ...header, isNew: true, columns: undefined };
    this.#known.push(known);
    this.#current = known;
    return known;
  }

  #requireFitting(header: Known): void {
    const { separator, fields, types } = header;
    const count = fields === '' ? 0 : fields.split(separator).length;
    const typed = types === '' ? count : types.split(separator).length;
    if (count <= limits.maxTsvColumns && typed === count) return;
    this.#known = this.#known.filter((one) => one !== header);
    this.#current = undefined;
    if (count > limits.maxTsvColumns) reject('line', `has more than ${limits.maxTsvColumns} fields`);
    reject('line', `has ${typed} types for ${count} fields`);
  }

  /**
   * Returns the header, from earlier lines or bodies, that fits the number and the values of the row's
   * columns.
   */
  #headerOf(line: string, sensor: string): Known {
    const fitting = this.#known.filter((one) => {
      if (one.sensor !== sensor || one.fields === '') return false;
      const columns = columnsOf(one);
      const cells = line.split(one.separator, columns.length + 1);
      const fits = ({ kind }: Column, at: number) => canBe(cellValue(cells[at]!, kind, one), kind);
      return cells.length === columns.length && columns.every(fits);
    });
    if (fitting.length === 1) return fitting[0]!;
    if (fitting.length > 1)
      reject('line', `matches the headers of ${fitting.map(({ path }) => path).join(' and ')}; ${advice}`);
    const current = this.#current;
    if (current === undefined || current.fields === '' || current.sensor !== sensor)
      return reject('line', `is not JSON, and no header of Zeek TSV describes it; ${advice}`);
    return reject(
      'line',
      `has ${line.split(current.separator).length} columns, but its header has ${columnsOf(current).length}`,
    );
  }
}

const advice =
  'send all header lines again (#fields and the other lines), or let Zeek write JSON (LogAscii::use_json=T)';

const usual = {
  separator: '\t',
  setSeparator: ',',
  empty: '(empty)',
  unset: '-',
  path: undefined,
  fields: '',
  types: '',
} as const;

/** The settings in a header's lines. */
const settings = {
  '#set_separator': 'setSeparator',
  '#empty_field': 'empty',
  '#unset_field': 'unset',
  '#path': 'path',
  '#fields': 'fields',
  '#types': 'types',
} as const;

interface Known extends Writable<TsvHeader> {
  /** True if this body contains a line of the header. */
  isNew: boolean;
  columns: readonly Column[] | undefined;
}
type Writable<T> = { -readonly [P in keyof T]: T[P] };

function columnsOf(header: Known): readonly Column[] {
  const { fields, types, separator } = header;
  if (fields === '') return [];
  const typed = types.split(separator);
  header.columns ??= fields.split(separator).map((name, at) => ({ name, kind: kindOf(typed[at] ?? '') }));
  return header.columns;
}

function cellValue(cell: string, kind: Kind, header: TsvHeader): unknown {
  if (cell === header.unset) return undefined;
  switch (kind) {
    case 'number':
      return number(cell);
    case 'bool':
      return cell === 'T' ? true : cell === 'F' ? false : cell;
    case 'text':
      return cell === header.empty ? '' : unescaped(cell);
    case 'texts':
    case 'numbers': {
      if (cell === header.empty) return [];
      const element = kind === 'texts' ? 'text' : 'number';
      return cell.split(header.setSeparator).map((part) => cellValue(part, element, header) ?? null);
    }
  }
}

/** Returns whether a value fits the type of its column. */
const canBe = (value: unknown, kind: Kind): boolean =>
  value === undefined ||
  (kind === 'number' ? typeof value === 'number' : kind !== 'bool' || typeof value === 'boolean');

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

/**
 * Reads a decimal number. Other texts are returned unchanged: `Number` would also accept hexadecimal, white
 * space and the empty text.
 */
function number(cell: string): number | string {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** Decodes each `\xNN` as one byte. Adjacent bytes are decoded as UTF-8. */
function unescaped(cell: string): string {
  if (!cell.includes('\\x')) return cell;
  return cell.replace(/(?:\\x[0-9a-fA-F]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString('utf8'),
  );
}
