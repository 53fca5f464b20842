import { limits } from '../../limits.ts';
import { FieldCache, type MatchContext, passes } from './field-cache.ts';
import { resolveField } from './fields/field.ts';
import type { Test } from './item.ts';
import { isObject, type JsonObject, type RecordKind } from './record.ts';

/**
 * Searches all values of a record, including nested values but not the field names. Only the first
 * `limits.maxKeywordValues` values are searched.
 */
export class Keywords {
  readonly #turn: MatchContext;
  #stamp = -1;
  #slot: FieldCache;
  #values: unknown[] = [];

  constructor(turn: MatchContext) {
    this.#turn = turn;
    this.#slot = new FieldCache('', () => this.#values, turn);
  }

  passes(test: Test): boolean {
    if (this.#stamp !== this.#turn.stamp) {
      this.#stamp = this.#turn.stamp;
      this.#values = valuesIn(this.#turn.record);
    }
    return passes(test, this.#slot, undefined);
  }
}

/** Returns the values breadth first, so that a long list does not crowd out the top-level values. */
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

/** The fields that rules use in one kind of record. All names of a field share one cache. */
export class Slots {
  readonly #kind: RecordKind;
  readonly #turn: MatchContext;
  readonly #byKey = new Map<string, FieldCache>();
  readonly #byName = new Map<string, FieldCache>();

  constructor(kind: RecordKind, turn: MatchContext) {
    this.#kind = kind;
    this.#turn = turn;
  }

  of(name: string): FieldCache {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const { key, read } = resolveField(this.#kind, name);
    const slot = this.#byKey.get(key) ?? new FieldCache(key, read, this.#turn);
    this.#byKey.set(key, slot);
    this.#byName.set(name, slot);
    return slot;
  }
}
