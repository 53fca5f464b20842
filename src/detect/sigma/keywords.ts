import { limits } from '../../limits.ts';
import type { Test } from './item.ts';
import { isObject, type JsonObject } from './record.ts';
import { passes, Slot, type Turn } from './slot.ts';

/**
 * A search in all values of a record, wherever they are; names of fields are not looked at. Of a record only the first
 * `limits.maxKeywordValues` values are.
 */
export class Keywords {
  readonly #turn: Turn;
  #stamp = -1;
  #slot: Slot;
  #values: unknown[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#slot = new Slot('', () => this.#values, turn);
  }

  passes(test: Test): boolean {
    if (this.#stamp !== this.#turn.stamp) {
      this.#stamp = this.#turn.stamp;
      this.#values = valuesIn(this.#turn.record);
    }
    return passes(test, this.#slot, undefined);
  }
}

/** Breadth first, so that what is on top is not crowded out by one long list. */
function valuesIn(record: JsonObject): unknown[] {
  const values: unknown[] = [];
  const waiting: (JsonObject | readonly unknown[])[] = [record];
  for (const inside of waiting) {
    for (const value of Object.values(inside)) {
      if (values.length + waiting.length > limits.maxKeywordValues) return values;
      if (isObject(value) || Array.isArray(value)) waiting.push(value);
      else if (value !== null && value !== undefined) values.push(value);
    }
  }
  return values;
}
