import { FieldCache, type MatchContext } from './field-cache.ts';
import { resolveField } from './fields/field.ts';
import type { RecordKind } from './record.ts';

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
