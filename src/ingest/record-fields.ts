import { maxTime } from '../events/format/columns.ts';
import type { TextSpan } from '../events/format/text-span.ts';
import type { Address, Addresses } from './addresses.ts';
import { isObject, isoTime, type JsonObject, text } from './fields.ts';
import { absent, LineValues } from './line-values.ts';
import type { ParseContext } from './parse-context.ts';
import { isoMicros, isoMicrosOf, isoMillisOf } from './time.ts';
import { dotted, type IdNames } from './zeek-envelope.ts';

const mostSlots = 64;

/**
 * How events of one kind are read. Readers get fields by slot. Therefore, the same code reads lines of a known shape
 * from the values of the line, and all other records from the object.
 */
export interface EventReader {
  readonly fields: FieldSet;
  /** Adds the event to the batch. */
  readonly read: (fields: RecordFields, reading: ParseContext, record: JsonObject) => void;
}

/** A field of a record. `slot` is -1 for an object of which only the fields in `inner` are read. */
interface Field {
  readonly name: string;
  slot: number;
  readonly inner: [name: string, slot: number][];
}

/** The fields from which events of one kind are read. */
export class FieldSet {
  readonly #fields: Field[] = [];

  /** @param slots - by the paths of the fields, from 0. `flow.start` is the field `start` of the object `flow`. */
  constructor(slots: Readonly<Record<string, number>>) {
    for (const [path, slot] of Object.entries(slots)) {
      const [name, inner] = path.split('.') as [string, string?];
      let field = this.#fields.find((one) => one.name === name);
      if (field === undefined) {
        field = { name, slot: -1, inner: [] };
        this.#fields.push(field);
      }
      if (inner === undefined) field.slot = slot;
      else field.inner.push([inner, slot]);
    }
  }

  /** Sets the value of each field at the position that is its slot plus 1. */
  copy(record: JsonObject, to: LineValues): void {
    for (let at = 0; at < this.#fields.length; at++) {
      const { name, slot, inner } = this.#fields[at] as Field;
      const value = record[name];
      if (slot >= 0) to.set(slot + 1, value);
      for (let i = 0; i < inner.length; i++) {
        const [innerName, innerSlot] = inner[i] as [string, number];
        to.set(innerSlot + 1, isObject(value) ? value[innerName] : undefined);
      }
    }
  }

  /**
   * Returns the positions of the fields in lines of a shape, by slot; undefined if a field is an object that no reader
   * expects.
   *
   * @param record - a record with positions instead of values
   * @param others - values of slots that the record has under other names
   */
  positions(record: JsonObject, others: ReadonlyMap<number, unknown> = new Map()): Uint16Array | undefined {
    const positions = new Uint16Array(mostSlots).fill(absent);
    const put = (slot: number, value: unknown): boolean => {
      const used = others.has(slot) ? others.get(slot) : value;
      positions[slot] = positionOf(used);
      return !isObject(used);
    };
    const fit = this.#fields.every(({ name, slot, inner }) => {
      const value = record[name];
      const isHolder = inner.length > 0 && isObject(value);
      const fits = slot < 0 || put(slot, isHolder ? undefined : value);
      return fits && inner.every(([of, at]) => put(at, isHolder ? value[of] : undefined));
    });
    return fit ? positions : undefined;
  }
}

/** How lines of one shape are read. */
export interface Plan {
  readonly read: (fields: RecordFields, reading: ParseContext, record: JsonObject, lineOf: () => string) => void;
  /** The kind of the records. */
  readonly kind: string;
  /** The position of each slot's value in the values of the line. */
  readonly positions: Uint16Array;
  /** Names of a Zeek connection's addresses and ports in this shape. */
  readonly names?: IdNames;
}

const ownPositions: Uint16Array = Uint16Array.from({ length: mostSlots }, (_, slot) => slot + 1);

/** The fields of one record, by slots. Valid until the next record is read. */
export class RecordFields {
  /** The values of records that are objects. */
  readonly #own = new LineValues(mostSlots);
  #line = this.#own;
  #positions = ownPositions;
  /** Names of a Zeek connection's addresses and ports in the record, for errors. */
  names: IdNames = dotted;
  /** The id of Suricata's flow as written. */
  flowId: string | TextSpan | undefined;

  /** Takes the fields from the values of a line. */
  ofLine(line: LineValues, { positions, names }: Plan): this {
    this.#line = line;
    this.#positions = positions;
    if (names !== undefined) this.names = names;
    return this;
  }

  /** Takes the fields from an object. */
  ofRecord(record: JsonObject, { fields }: EventReader): this {
    this.#line = this.#own;
    this.#positions = ownPositions;
    fields.copy(record, this.#own);
    return this;
  }

  /** Replaces a field of an object. */
  set(slot: number, value: unknown): void {
    this.#own.set(slot + 1, value);
  }

  value(slot: number): unknown {
    return this.#line.value(this.#positions[slot] as number);
  }

  /** Returns whether the field has a value other than null. */
  has(slot: number): boolean {
    return this.#line.has(this.#positions[slot] as number);
  }

  /** Reads an ISO 8601 time, as the function `isoTime` does. */
  isoTime(slot: number, field: string): number {
    const position = this.#positions[slot] as number;
    const line = this.#line;
    if (line.isUnread(position)) {
      const millis = isoMillisOf(line.bytes, line.starts[position] as number, line.ends[position] as number);
      if (millis >= 0 && millis <= maxTime) return millis;
    }
    return isoTime(line.value(position), field);
  }

  /** Returns the microseconds of a valid ISO 8601 time, 0–999. */
  isoMicros(slot: number): number {
    const position = this.#positions[slot] as number;
    const line = this.#line;
    if (!line.isUnread(position)) return isoMicros(line.value(position) as string);
    return isoMicrosOf(line.bytes, line.starts[position] as number, line.ends[position] as number);
  }

  requiredAddress(slot: number, field: string, addresses: Addresses): Address {
    const position = this.#positions[slot] as number;
    const line = this.#line;
    const ipv4 = line.isUnread(position)
      ? addresses.ipv4(line.bytes, line.starts[position] as number, line.ends[position] as number)
      : undefined;
    return ipv4 ?? addresses.required(line.value(position), field);
  }

  /** Returns the bytes of a number of up to 20 digits; undefined if the value is not such a number in bytes. */
  digits(slot: number, span: TextSpan): TextSpan | undefined {
    const position = this.#positions[slot] as number;
    const line = this.#line;
    const start = line.starts[position] as number;
    const end = line.ends[position] as number;
    if (line === this.#own || typeof line.value(position) !== 'number' || end - start > 20) return undefined;
    for (let at = start; at < end; at++) if (((line.bytes[at] as number) ^ 48) > 9) return undefined;
    return span.of(line.bytes, start, end);
  }

  /** Reads a text. If it is not yet a string, returns its bytes in the span. */
  unique(slot: number, field: string, span: TextSpan): string | TextSpan | undefined {
    const position = this.#positions[slot] as number;
    const line = this.#line;
    if (!line.isUnread(position)) return text(line.value(position), field);
    return span.of(line.bytes, line.starts[position] as number, line.ends[position] as number);
  }
}

export const positionOf = (value: unknown): number => (typeof value === 'bigint' ? Number(value) : absent);
