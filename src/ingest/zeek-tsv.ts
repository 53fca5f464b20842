import { replaces, type TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import type { JsonObject } from './fields.ts';
import { LineValues } from './line-values.ts';
import type { Plan } from './record-fields.ts';
import { reject } from './rejection.ts';
import { Shape } from './shape.ts';
import { zeekPlan } from './zeek.ts';

const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const hash = 35;
const openBrace = 123;

/** Values of rows, by the number of their column. Shared by the bodies that this thread reads. */
const values = new LineValues(limits.maxTsvColumns);

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
  /** Values of the last row that was read from its bytes. */
  readonly values = values;
  /** Plan for the last row; undefined if the row is read as an object. */
  plan: Plan | undefined;

  /** @param headers - from earlier bodies of the principal */
  constructor(headers: readonly TsvHeader[] = []) {
    this.#known = headers.map((header) => ({ ...header, isNew: false, columns: undefined, rows: undefined }));
  }

  /** True if a header is known, so that rows may follow. */
  get open(): boolean {
    return this.#known.length > 0;
  }

  /** The headers in this body; undefined without headers. */
  get changed(): readonly TsvHeader[] | undefined {
    const changed = this.#known.filter(({ isNew }) => isNew);
    return changed.length === 0 ? undefined : changed.map(({ isNew: _, columns: __, rows: ___, ...header }) => header);
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
    header.rows = undefined;
    if (name === '#fields') header.types = '';
    header[settings[name as keyof typeof settings]] = name === '#set_separator' ? unescaped(value) : value;
    this.#known = [...this.#known.filter((one) => one !== header && !replaces(header, one)), header];
    this.#current = header;
    this.#requireFitting(header);
  }

  /**
   * Reads one row from its bytes, if it fits the last header of this body and contains only printable ASCII without
   * escapes and quotes. Returns an object with the values of the line, which is valid until the next row is read, and
   * sets `plan`. Returns undefined for other rows.
   */
  line(bytes: Buffer, view: DataView, start: number, end: number, sensor: string): JsonObject | undefined {
    const header = this.#current;
    if (header === undefined || header.sensor !== sensor) return undefined;
    const first = bytes[start] as number;
    const separator = header.separator.charCodeAt(0);
    if (first <= space || first === hash || first === openBrace || end - start > limits.maxTextBytes) return undefined;
    if (header.separator.length !== 1 || separator >= space) return undefined;
    let last = end;
    while (bytes[last - 1] === lineFeed || bytes[last - 1] === carriageReturn) last--;
    const columns = columnsOf(header);
    this.values.begin(bytes, view);
    let at = start - 1;
    for (let column = 0; column < columns.length; column++) {
      if (at >= last || (column > 0 && bytes[at] !== separator)) return undefined;
      at = this.#cell(header, columns[column] as Column, column + 1, at + 1, last);
      if (at < 0) return undefined;
    }
    if (at !== last) return undefined;
    header.rows ??= rowsOf(header, columns);
    this.path = header.path;
    this.plan = header.rows.plan;
    return header.rows.shape.record(this.values);
  }

  /** Sets the value of the cell that starts at `at`. Returns its end, or -1 if the row is read as a text. */
  #cell(header: Known, { kind }: Column, position: number, at: number, last: number): number {
    const { values } = this;
    if (isCell(header.unset, values.bytes, at, last, header.separator)) {
      values.set(position, undefined);
      return at + header.unset.length;
    }
    if (kind === 'number') return values.number(position, at, last);
    const end = values.text(position, at);
    if (end > last) return -1;
    if (kind !== 'text') {
      const value = cellValue(values.value(position) as string, kind, header);
      if (kind === 'bool' && typeof value !== 'boolean') return -1;
      values.set(position, value);
    } else if (isCell(header.empty, values.bytes, at, last, header.separator)) values.set(position, '');
    return end;
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
    this.plan = undefined;
    const columns = columnsOf(header);
    const record: Record<string, unknown> = {};
    for (let at = 0; at < cells.length; at++) {
      const { name, kind } = columns[at] as Column;
      if (isField(name)) record[name] = cellValue(cells[at] as string, kind, header);
    }
    return record;
  }

  #begin(header: TsvHeader): Known {
    const known = { ...header, isNew: true, columns: undefined, rows: undefined };
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
  /** The shape of rows, and the plan for reading them. */
  rows: Rows | undefined;
}

interface Rows {
  readonly shape: Shape;
  readonly plan: Plan | undefined;
}
type Writable<T> = { -readonly [P in keyof T]: T[P] };

function columnsOf(header: Known): readonly Column[] {
  const { fields, types, separator } = header;
  if (fields === '') return [];
  if (header.columns === undefined) {
    const typed = types.split(separator);
    header.columns = fields.split(separator).map((name, at) => ({ name, kind: kindOf(typed[at] ?? '') }));
  }
  return header.columns;
}

/** Returns the shape of rows, in which the position of a value is the number of its column from 1. */
function rowsOf({ path }: Known, columns: readonly Column[]): Rows {
  const named = columns.map(({ name }, at) => [name, at + 1] as const).filter(([name]) => isField(name));
  const shape = new Shape(Object.fromEntries(named), new Map(named.map(([name, at]) => [`\n${name}`, at])));
  const record = shape.positions();
  // Cells may be unset, so the names of the addresses must not depend on their values.
  const isDotted = record.id === undefined && record.id_orig_h === undefined && record.id_resp_h === undefined;
  return { shape, plan: isDotted && path !== undefined ? zeekPlan(record, path) : undefined };
}

/** Returns whether a column is a field. `__proto__` would set the prototype, and an empty name is not a field. */
const isField = (name: string): boolean => name !== '__proto__' && name !== '';

/** Returns whether the cell that starts at `at` has this text, which is ASCII. */
function isCell(text: string, bytes: Buffer, at: number, last: number, separator: string): boolean {
  const end = at + text.length;
  if (end > last || (end < last && bytes[end] !== separator.charCodeAt(0))) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127 || bytes[at + i] !== code) return false;
  }
  return true;
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
