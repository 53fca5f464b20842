import { Address, type Blocks } from './cidr.ts';
import { fold, foldDashes } from './fold.ts';
import type { Test, View } from './item.ts';
import { momentPart } from './moment.ts';
import type { Accessor, JsonObject } from './record.ts';

/**
 * One field of the current record. The field is read on first use, and each form of its text (for a list, of
 * the texts of all elements) is created once. Values are cached for one record, which the stamp of
 * `MatchContext` identifies.
 */
export class FieldCache {
  /** Key that is equal for all names of the field. */
  readonly key: string;
  readonly #read: Accessor;
  readonly #turn: MatchContext;
  #stamp = -1;
  #value: unknown;
  /** Case-folded text of a single value. */
  #folded: string | undefined;
  /** Other forms of a single text; few rules use them. */
  #seldom: Views | undefined;
  #texts: Record<View, readonly string[] | undefined> | undefined;
  #address: Address | undefined;
  #addressAt = -1;

  constructor(key: string, read: Accessor, turn: MatchContext) {
    this.key = key;
    this.#read = read;
    this.#turn = turn;
  }

  get value(): unknown {
    const { stamp } = this.#turn;
    if (this.#stamp !== stamp) {
      this.#stamp = stamp;
      this.#value = this.#read(this.#turn.record);
      this.#folded = undefined;
      this.#seldom = undefined;
      this.#texts = undefined;
    }
    return this.#value;
  }

  /** Returns the text of a single value; undefined for lists, objects and missing values. */
  text(view: View): string | undefined {
    const { value } = this;
    if (view === 'folded') {
      if (this.#folded !== undefined) return this.#folded;
      this.#folded = typeof value === 'string' ? fold(value) : foldedScalar(value);
      return this.#folded;
    }
    if (view === 'raw' && typeof value === 'string') return value;
    return this.#seldomText(view, value);
  }

  #seldomText(view: View, value: unknown): string | undefined {
    const raw = scalarText(value);
    if (raw === undefined) return undefined;
    this.#seldom ??= emptyViews();
    this.#seldom[view] ??= seen(raw, view);
    return this.#seldom[view];
  }

  /** Returns the texts of a list. */
  texts(view: View): readonly string[] {
    const { value } = this;
    if (!Array.isArray(value)) return none;
    this.#texts ??= emptyViews();
    this.#texts[view] ??= textsOf(value, view);
    return this.#texts[view];
  }

  /** True if the value is missing or an empty list. */
  get isNull(): boolean {
    const { value } = this;
    return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  }

  /** Returns true if the value, or any element of a list, passes the check. */
  some(holds: (value: unknown) => boolean): boolean {
    const { value } = this;
    return Array.isArray(value) ? value.some(holds) : holds(value);
  }

  someNumber(holds: (value: number) => boolean): boolean {
    const { value } = this;
    if (typeof value === 'number') return holds(value);
    if (!Array.isArray(value)) return isNumber(value, holds);
    for (let at = 0; at < value.length; at++) if (isNumber(value[at], holds)) return true;
    return false;
  }

  someText(view: View, holds: (text: string) => boolean): boolean {
    const text = this.text(view);
    if (text !== undefined) return holds(text);
    return Array.isArray(this.#value) && this.texts(view).some(holds);
  }

  /** Returns true if the value, or an element of a list, is an address within the blocks. */
  isIn(blocks: Blocks): boolean {
    const { value } = this;
    if (typeof value === 'string') {
      this.#address ??= new Address();
      if (this.#addressAt !== this.#stamp) {
        this.#addressAt = this.#stamp;
        this.#address.read(value);
      }
      return blocks.has(this.#address);
    }
    if (!Array.isArray(value)) return false;
    for (let at = 0; at < value.length; at++) {
      const element: unknown = value[at];
      if (typeof element !== 'string') continue;
      ofElement.read(element);
      if (blocks.has(ofElement)) return true;
    }
    return false;
  }
}

type Views = Record<View, string | undefined>;

const none: readonly string[] = [];
const ofElement = new Address();

function textsOf(values: readonly unknown[], view: View): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const raw = scalarText(values[at]);
    if (raw !== undefined) texts.push(seen(raw, view));
  }
  return texts;
}

function foldedScalar(value: unknown): string | undefined {
  const raw = scalarText(value);
  return raw === undefined ? undefined : fold(raw);
}

/** The current record, shared by all fields of a matcher. */
export interface MatchContext {
  record: JsonObject;
  stamp: number;
}

function emptyViews<T>(): Record<View, T | undefined> {
  return { raw: undefined, folded: undefined, 'raw dashes': undefined, 'folded dashes': undefined };
}

/** Returns the text of a scalar. Numbers and booleans are converted as in JSON: 443 to "443" and true to "true". */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function seen(raw: string, view: View): string {
  switch (view) {
    case 'raw':
      return raw;
    case 'folded':
      return fold(raw);
    case 'raw dashes':
      return foldDashes(raw);
    case 'folded dashes':
      return foldDashes(fold(raw));
  }
}

function isNumber(value: unknown, holds: (value: number) => boolean): boolean {
  const number = numberOf(value);
  return number !== undefined && holds(number);
}

/** Reads a number, or a text with a decimal number. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*-?\d{1,20}(\.\d{1,20})?\s*$/.test(value) ? Number(value) : undefined;
}

/**
 * Returns true if a field passes a test.
 *
 * @param other - the field that a test for equal fields (`fieldref`) names
 */
export function passes(test: Test, slot: FieldCache, other: FieldCache | undefined): boolean {
  switch (test.kind) {
    case 'text':
      return slot.someText(test.view, test.matches);
    case 'blocks':
      return slot.isIn(test.blocks);
    case 'number':
      return slot.someNumber(test.matches);
    case 'moment':
      return slot.some((value) => {
        const number = momentPart(value, test.part);
        return number !== undefined && test.matches(number);
      });
    case 'null':
      return slot.isNull;
    case 'exists':
      return (slot.value !== undefined) === test.wanted;
    case 'field': {
      const view = test.cased ? 'raw' : 'folded';
      return slot.someText(view, (text) => other?.someText(view, (one) => test.matches(text, one)) === true);
    }
  }
}
