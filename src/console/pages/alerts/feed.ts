import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useChannel } from '../../state/live.ts';
import { putAlerts } from './cache.ts';
import { type AlertRow, type Filters, stillMatches, streamFilters } from './question.ts';

/** More new alerts than these are not told apart. */
export const maxFresh = 1000;
/** Changes are shown this often at most, in milliseconds: a storm of alerts draws no more than that. */
const drawnEveryMs = 250;

export interface Feed {
  /** Alerts that would be in the list and are not yet, by id: at most `maxFresh`. */
  readonly fresh: ReadonlySignal<ReadonlySet<string>>;
  /** More was told than this browser could take: what is shown may be old. */
  readonly missed: ReadonlySignal<boolean>;
  /** The list was asked for again. */
  readonly clear: () => void;
}

/**
 * Alerts as they happen: those of the list change in their place, others are counted until they are asked for.
 *
 * @param shown - ids of the rows that are in the list
 * @param range - of `last_seen`, half-open, as the list is asked
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
  const asked = useRef({ filters, range, shown });
  asked.current = { filters, range, shown };

  const draw = () => {
    timer.current = undefined;
    const came = waiting.current;
    waiting.current = new Map();
    putAlerts(came);
    const next = new Set(fresh.peek());
    for (const [id, alert] of came) {
      const isNew = !asked.current.shown.has(id) && isWanted(alert, asked.current);
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
