import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useChannel } from '../../state/live.ts';
import { putAlerts } from './cache.ts';
import { type AlertRow, type Filters, stillMatches, streamFilters } from './question.ts';

/** Maximum number of new alerts that are counted. */
export const maxFresh = 1000;
/** Minimum time between renders in milliseconds, so that a burst of alerts does not block the browser. */
const drawnEveryMs = 250;

export interface Feed {
  /** Ids of alerts that match the list but are not in it yet: at most `maxFresh`. */
  readonly fresh: ReadonlySignal<ReadonlySet<string>>;
  /** Whether updates were dropped because this browser was too slow; the list may be out of date. */
  readonly missed: ReadonlySignal<boolean>;
  /** Resets `fresh` and `missed` after the list was fetched again. */
  readonly clear: () => void;
}

/**
 * Receives alerts live: alerts in the list are updated in place, new alerts are counted until the user loads them.
 *
 * @param shown - ids of the rows in the list
 * @param range - half-open range of `last_seen`, as in the request for the list
 */
export function useFeed(
  filters: Filters,
  range: { readonly from?: string; readonly to?: string },
  shown: ReadonlySet<string>,
): Feed {
  const fresh = useSignal<ReadonlySet<string>>(new Set());
  const missed = useSignal(false);
  const waiting = useRef(new Map<string, AlertRow>());
  const timer = useRef<number | undefined>(undefined);
  const latest = useRef({ filters, range, shown });
  latest.current = { filters, range, shown };

  const draw = () => {
    timer.current = undefined;
    const received = waiting.current;
    waiting.current = new Map();
    putAlerts(received);
    const next = new Set(fresh.peek());
    for (const [id, alert] of received) {
      const isNew = !latest.current.shown.has(id) && isWanted(alert, latest.current);
      if (!isNew) next.delete(id);
      else if (next.size < maxFresh) next.add(id);
    }
    fresh.value = next;
  };
  useChannel('alerts', streamFilters(filters), {
    onEvent: ({ data }) => {
      waiting.current.set(data.id, data as AlertRow);
      timer.current ??= window.setTimeout(draw, drawnEveryMs);
    },
    onLagged: () => {
      missed.value = true;
    },
  });
  const clear = () => {
    fresh.value = new Set();
    missed.value = false;
  };
  const key = JSON.stringify([filters, range]);
  useEffect(clear, [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { fresh, missed, clear };
}

function isWanted(
  { attributes }: AlertRow,
  { filters, range: { from, to } }: { filters: Filters; range: { from?: string; to?: string } },
): boolean {
  const at = Date.parse(attributes.last_seen);
  if (from !== undefined && at < Date.parse(from)) return false;
  if (to !== undefined && at >= Date.parse(to)) return false;
  return stillMatches(attributes, filters);
}
