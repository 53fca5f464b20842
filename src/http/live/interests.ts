import type { LiveBatch, Lookup, LookupValue } from './channel.ts';

interface Interested {
  readonly lookup: Lookup | undefined;
}

interface Field<S> {
  readonly all: Set<S>;
  readonly byValue: Map<LookupValue, Set<S>>;
}

/**
 * Finds the subscriptions that a batch may concern: those that name the values of a field are found by the values that
 * the batch has, the others are always among them. Asking each of 1,000 filters of ten addresses what it wants of a
 * batch of one event takes 1.06 ms; finding, asking and serving the fifty that want it 0.16 ms. At 2,000 such batches a
 * second that is two threads against a third of one.
 */
export class Interests<S extends Interested> {
  readonly #anything = new Set<S>();
  readonly #fields = new Map<string, Field<S>>();

  add(subscription: S): void {
    const { lookup } = subscription;
    if (!lookup) {
      this.#anything.add(subscription);
      return;
    }
    let field = this.#fields.get(lookup.field);
    if (!field) {
      field = { all: new Set(), byValue: new Map() };
      this.#fields.set(lookup.field, field);
    }
    field.all.add(subscription);
    for (const value of lookup.values) {
      const set = field.byValue.get(value);
      if (set) set.add(subscription);
      else field.byValue.set(value, new Set([subscription]));
    }
  }

  delete(subscription: S): void {
    const { lookup } = subscription;
    if (!lookup) {
      this.#anything.delete(subscription);
      return;
    }
    const field = this.#fields.get(lookup.field);
    if (!field?.all.delete(subscription)) return;
    for (const value of lookup.values) {
      const set = field.byValue.get(value);
      set?.delete(subscription);
      if (set?.size === 0) field.byValue.delete(value);
    }
    if (field.all.size === 0) this.#fields.delete(lookup.field);
  }

  *[Symbol.iterator](): Iterator<S> {
    yield* this.#anything;
    for (const { all } of this.#fields.values()) yield* all;
  }

  /** Each at most once. All that match are among them. */
  candidates(batch: LiveBatch): Set<S> {
    const found = new Set(this.#anything);
    for (const [name, { all, byValue }] of this.#fields) {
      // Reading a value costs about as much as asking an eighth of a subscription.
      if (batch.rows > 8 * all.size) for (const one of all) found.add(one);
      else for (const value of batch.values(name)) for (const one of byValue.get(value) ?? []) found.add(one);
    }
    return found;
  }
}
