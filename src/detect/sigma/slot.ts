import { fold, foldDashes } from './fold.ts';
import type { Test, View } from './item.ts';
import { momentPart } from './moment.ts';
import type { Accessor, JsonObject } from './record.ts';

/**
 * One field of the record that is being matched. It is read when it is first asked for, and each form of its text is made
 * once; of a list, those of all elements. Valid for one record; `turn` tells them apart.
 */
export class Slot {
  readonly #read: Accessor;
  readonly #turn: Turn;
  #stamp = -1;
  #value: unknown;
  readonly #text: Record<View, string | undefined> = emptyViews();
  #texts: Record<View, readonly string[] | undefined> | undefined;

  constructor(read: Accessor, turn: Turn) {
    this.#read = read;
    this.#turn = turn;
  }

  get value(): unknown {
    if (this.#stamp !== this.#turn.stamp) {
      this.#stamp = this.#turn.stamp;
      this.#value = this.#read(this.#turn.record);
      this.#text.raw = undefined;
      this.#text.folded = undefined;
      this.#text['raw dashes'] = undefined;
      this.#text['folded dashes'] = undefined;
      this.#texts = undefined;
    }
    return this.#value;
  }

  /** The text of a single value; undefined for lists, objects and what is not there. */
  text(view: View): string | undefined {
    const { value } = this;
    const known = this.#text[view];
    if (known !== undefined) return known;
    const raw = scalarText(value);
    if (raw === undefined) return undefined;
    this.#text[view] = seen(raw, view);
    return this.#text[view];
  }

  /** The texts of a list. */
  texts(view: View): readonly string[] {
    const { value } = this;
    if (!Array.isArray(value)) return [];
    this.#texts ??= emptyViews();
    const known = this.#texts[view];
    if (known !== undefined) return known;
    const texts = value.flatMap((element: unknown) => {
      const raw = scalarText(element);
      return raw === undefined ? [] : [seen(raw, view)];
    });
    this.#texts[view] = texts;
    return texts;
  }

  /** No value at all, or a list of none. */
  get isNull(): boolean {
    const { value } = this;
    return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  }

  /** Of a list, one element suffices. */
  some(holds: (value: unknown) => boolean): boolean {
    const { value } = this;
    return Array.isArray(value) ? value.some(holds) : holds(value);
  }

  someText(view: View, holds: (text: string) => boolean): boolean {
    const text = this.text(view);
    if (text !== undefined) return holds(text);
    return Array.isArray(this.#value) && this.texts(view).some(holds);
  }
}

/** The record of the moment, which all slots of a matcher look at. */
export interface Turn {
  record: JsonObject;
  stamp: number;
}

function emptyViews<T>(): Record<View, T | undefined> {
  return { raw: undefined, folded: undefined, 'raw dashes': undefined, 'folded dashes': undefined };
}

/** Numbers and booleans are the texts that JSON writes them as: `443` is "443", `true` is "True" but for case. */
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

/** A number, or a text that is one in decimal. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*-?\d{1,20}(\.\d{1,20})?\s*$/.test(value)
    ? Number(value)
    : undefined;
}

/** Whether a field passes a test. `other` is the field that a reference names. */
export function passes(test: Test, slot: Slot, other: Slot | undefined): boolean {
  switch (test.kind) {
    case 'text':
      return slot.someText(test.view, test.matches);
    case 'number':
      return slot.some((value) => {
        const number = numberOf(value);
        return number !== undefined && test.matches(number);
      });
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
