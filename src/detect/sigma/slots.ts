import { resolveField } from './fields/field.ts';
import type { RecordKind } from './record.ts';
import { Slot, type Turn } from './slot.ts';

/** The fields that rules ask of one kind of record: one slot for all names of a field. */
export class Slots {
  readonly #kind: RecordKind;
  readonly #turn: Turn;
  readonly #byKey = new Map<string, Slot>();
  readonly #byName = new Map<string, Slot>();

  constructor(kind: RecordKind, turn: Turn) {
    this.#kind = kind;
    this.#turn = turn;
  }

  of(name: string): Slot {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const { key, read } = resolveField(this.#kind, name);
    const slot = this.#byKey.get(key) ?? new Slot(key, read, this.#turn);
    this.#byKey.set(key, slot);
    this.#byName.set(name, slot);
    return slot;
  }
}
