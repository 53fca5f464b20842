import type { Alert } from '../../contract/resources/alert.ts';
import { withAssets } from '../../events/alert-assets.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import type { AlertUpdate } from '../../store/store.ts';
import { type FilterMatcher, LazyMessage, type LiveBatch, type LiveMessage } from './channel.ts';

/** The alert changes of one commit. */
export class LiveAlerts implements LiveBatch<FilterMatcher<Alert>> {
  /**
   * Undefined, because sequences are skipped: several changes of one alert within a commit are one
   * update, with the last sequence.
   */
  readonly firstSeq = undefined;
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly #updates: readonly AlertUpdate[];
  readonly #messages = new Map<AlertUpdate, LiveMessage>();

  /** @param updates - at least one, in the order of their sequence */
  constructor(updates: readonly AlertUpdate[], assets: AssetSnapshot) {
    assets.refresh();
    this.#updates = updates.map(({ seq, alert }) => ({ seq, alert: withAssets(alert, assets) }));
    this.lastSeq = updates.at(-1)?.seq ?? 0;
    this.rows = updates.length;
    this.bytes = updates.length * alertBytes;
  }

  values(): Iterable<never> {
    return [];
  }

  forgetTexts(): void {
    this.#messages.clear();
  }

  match({ wanted }: FilterMatcher<Alert>): LiveMessage[] {
    return this.#updates.filter(({ alert }) => wanted(alert)).map((update) => this.#message(update));
  }

  #message(update: AlertUpdate): LiveMessage {
    let message = this.#messages.get(update);
    if (!message) {
      const { id, ...attributes } = update.alert;
      message = new LazyMessage(update.seq, () => JSON.stringify({ id, type: 'alert', attributes }));
      this.#messages.set(update, message);
    }
    return message;
  }
}

/** Approximate memory of an alert: about forty attributes and some bounded lists. */
const alertBytes = 4096;
