import { withAssets } from '../../events/alert-assets.ts';
import type { AlertUpdate, StoreReader } from '../../store/store.ts';
import type { LiveBatch } from './channel.ts';
import { LiveResources } from './live-resources.ts';

interface AlertFeedOptions {
  readonly reader: Pick<StoreReader, 'assets' | 'head' | 'replayAlerts'>;
  readonly publish: (batch: LiveBatch) => void;
  /** Receives each change once, in order, for consumers other than subscribers. */
  readonly onChanged?: (updates: readonly AlertUpdate[]) => void;
}

/** Maximum number of changes in one read. */
const readAtOnce = 500;
/** Approximate memory of an alert: about forty attributes and some bounded lists. */
const alertBytes = 4096;

/**
 * Publishes changes of alerts in the order of their sequence. Changes that no notice contained, because the
 * store thread died between a flush and its notice, are read from the tables.
 */
export class AlertFeed {
  readonly #options: AlertFeedOptions;
  #seq: number;

  /** Creates a feed that begins after the stored changes, as the hub does. */
  constructor(options: AlertFeedOptions) {
    this.#options = options;
    this.#seq = options.reader.head('alerts');
  }

  /**
   * Publishes committed changes, in the order of their sequence. `head` is the sequence of the last change.
   */
  committed(updates: readonly AlertUpdate[], head: number): void {
    const next = updates[0]?.seq ?? head + 1;
    if (next > this.#seq + 1) this.#readTo(next - 1);
    this.#publish(updates.filter(({ seq }) => seq > this.#seq));
  }

  /**
   * Publishes stored changes up to `last`. If an alert has changed again since then, only the later change is read.
   */
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
    const { assets } = this.#options.reader;
    assets.refresh();
    const changed = updates.map(({ seq, alert }) => ({ seq, resource: withAssets(alert, assets) }));
    // Sequences are skipped: several changes of one alert within a commit are one update, with the last sequence.
    const options = { type: 'alert', bytesOfEach: alertBytes, firstSeq: undefined } as const;
    this.#options.publish(new LiveResources(changed, options));
    this.#options.onChanged?.(updates);
  }
}
