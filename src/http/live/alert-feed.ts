import type { AlertUpdate, StoreReader } from '../../store/store.ts';
import { LiveAlerts } from './alert-channel.ts';
import type { LiveBatch } from './channel.ts';

interface AlertFeedOptions {
  readonly reader: Pick<StoreReader, 'assets' | 'head' | 'replayAlerts'>;
  readonly publish: (batch: LiveBatch) => void;
  /** The same for others than subscribers: each change once, in order. */
  readonly onChanged?: (updates: readonly AlertUpdate[]) => void;
}

/** Changes that are read at once. */
const readAtOnce = 500;

/**
 * Brings changes of alerts to subscribers, in the order of their sequence. Most come with the answer of what caused
 * them; what the store raises by itself, counting events after their commit, is read from its tables: before what came
 * later, and once a second.
 */
export class AlertFeed {
  readonly #options: AlertFeedOptions;
  #seq: number;

  /** Begins after what is stored now, as the hub does. */
  constructor(options: AlertFeedOptions) {
    this.#options = options;
    this.#seq = options.reader.head('alerts');
  }

  /** Changes that were committed, in the order of their sequence. */
  committed(updates: readonly AlertUpdate[]): void {
    const first = updates[0];
    if (first === undefined) return;
    if (first.seq > this.#seq + 1) this.#readTo(first.seq - 1);
    this.#publish(updates.filter(({ seq }) => seq > this.#seq));
  }

  /** @returns whether there was something that no answer had told of */
  poll(): boolean {
    const head = this.#options.reader.head('alerts');
    if (head <= this.#seq) return false;
    this.#readTo(head);
    return true;
  }

  /** What changed again since stands under its later sequence only. */
  #readTo(last: number): void {
    while (this.#seq < last) {
      const { events, next } = this.#options.reader.replayAlerts(this.#seq, { terms: [] }, readAtOnce);
      this.#publish(
        events.map(({ seq, id, data }) => ({ seq, alert: { id, ...data } })).filter(({ seq }) => seq <= last),
      );
      this.#seq = Math.max(this.#seq, Math.min(next, last));
    }
  }

  #publish(updates: readonly AlertUpdate[]): void {
    const last = updates.at(-1);
    if (last === undefined) return;
    this.#seq = last.seq;
    this.#options.publish(new LiveAlerts(updates, this.#options.reader.assets));
    this.#options.onChanged?.(updates);
  }
}
