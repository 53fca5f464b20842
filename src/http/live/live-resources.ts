import type { ResourceType } from '../../contract/resource-types.ts';
import { type FilterMatcher, LazyMessage, type LiveBatch, type LiveMessage } from './channel.ts';

interface LiveResourcesOptions {
  readonly type: ResourceType;
  /** Approximate memory of one resource. */
  readonly bytesOfEach: number;
  /** See `LiveBatch.firstSeq`. */
  readonly firstSeq: number | undefined;
}

interface Update<T> {
  readonly seq: number;
  readonly resource: T;
}

/** The resources of one type that a commit changed. */
export class LiveResources<T extends { readonly id: string }> implements LiveBatch<FilterMatcher<T>> {
  readonly firstSeq: number | undefined;
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly #type: ResourceType;
  readonly #updates: readonly Update<T>[];
  readonly #messages = new Map<Update<T>, LiveMessage>();

  /** @param updates - at least one, in the order of their sequence */
  constructor(updates: readonly Update<T>[], { type, bytesOfEach, firstSeq }: LiveResourcesOptions) {
    this.#updates = updates;
    this.#type = type;
    this.firstSeq = firstSeq;
    this.lastSeq = updates.at(-1)?.seq ?? 0;
    this.rows = updates.length;
    this.bytes = updates.length * bytesOfEach;
  }

  values(): Iterable<never> {
    return [];
  }

  forgetTexts(): void {
    this.#messages.clear();
  }

  match({ wanted }: FilterMatcher<T>): LiveMessage[] {
    return this.#updates.filter(({ resource }) => wanted(resource)).map((update) => this.#message(update));
  }

  #message(update: Update<T>): LiveMessage {
    let message = this.#messages.get(update);
    if (!message) {
      const { id, ...attributes } = update.resource;
      message = new LazyMessage(update.seq, () => JSON.stringify({ id, type: this.#type, attributes }));
      this.#messages.set(update, message);
    }
    return message;
  }
}
