import type { ParsedFilter } from '../../contract/query.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import { withAssets } from '../../events/alert-assets.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import type { AlertUpdate } from '../../store/store.ts';
import type { Channel, LiveBatch, LiveMessage, ReplayPart } from './channel.ts';

type AlertPredicate = (alert: Alert) => boolean;

interface AlertMatcher {
  readonly filter: ParsedFilter;
  readonly wanted: AlertPredicate;
}

/** Reads the newest state of alerts that changed past a sequence, in the analytics pool. */
export type ReplayAlerts = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/** `alerts`: every change of an alert, as the whole resource. */
export function alertChannel(
  head: () => number,
  compileFilter: (filter: ParsedFilter) => AlertPredicate,
  replayAlerts: ReplayAlerts,
): Channel<AlertMatcher> {
  return {
    head,
    compile: (filter) => ({ filter, wanted: compileFilter(filter) }),
    // Alerts are few: asking every subscription costs less than finding which to ask.
    lookup: () => undefined,
    replay: ({ filter }, since, limit, signal) => replayAlerts({ since, filter, limit }, signal),
  };
}

/** The alert changes of one commit. */
export class LiveAlerts implements LiveBatch<AlertMatcher> {
  /** Changes of one alert within a commit are one update, with the last of their sequences. */
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

  match({ wanted }: AlertMatcher): LiveMessage[] {
    return this.#updates.filter(({ alert }) => wanted(alert)).map((update) => this.#message(update));
  }

  #message(update: AlertUpdate): LiveMessage {
    let message = this.#messages.get(update);
    if (!message) {
      const { id, ...attributes } = update.alert;
      message = { seq: update.seq, json: JSON.stringify({ id, type: 'alert', attributes }) };
      this.#messages.set(update, message);
    }
    return message;
  }
}

/** What an alert takes in memory, roughly: it has some forty attributes, and lists that are bounded. */
const alertBytes = 4096;
