import type { RuleWindow } from './tables.ts';

/** How many new alerts a window of event time may have, and how long it is. */
export interface Bound {
  readonly alerts: number;
  readonly windowMs: number;
}

/** Windows remembered of one bound: a day of the default length, for sensors that deliver late. */
const maxRuleWindows = 24;

/**
 * The window to which a new alert at event time `time` belongs: undefined where it would begin one. A window begins with
 * the first alert outside all others and takes what comes up to a window's length before or after its start, so that
 * neither order nor backdating opens more of them. What is older than all windows that are remembered belongs to the
 * oldest.
 */
export function windowAt(
  windows: readonly RuleWindow[],
  time: number,
  windowMs: number,
): RuleWindow | undefined {
  return (
    windows.find(({ start }) => start <= time && time < start + windowMs) ??
    windows.find(({ start }) => start - windowMs < time && time < start) ??
    (windows.length === maxRuleWindows && time < windows[0]!.start ? windows[0] : undefined)
  );
}

/**
 * Counts one more new alert at event time `time`: the windows after it. The ids of alerts are only kept of the newest
 * window and the one before: what came longer ago is no part of what comes now.
 */
export function countNewAlert(
  windows: readonly RuleWindow[],
  time: number,
  windowMs: number,
  id: string | undefined,
): readonly RuleWindow[] {
  const window = windowAt(windows, time, windowMs);
  if (window !== undefined) {
    const ids = id === undefined ? {} : { ids: [...(window.ids ?? []), id] };
    const counted = { ...window, alerts: window.alerts + 1, ...ids };
    return windows.map((each) => (each === window ? counted : each));
  }
  return [...windows, { start: time, alerts: 1, ...(id === undefined ? {} : { ids: [id] }) }]
    .sort((a, b) => a.start - b.start)
    .slice(-maxRuleWindows)
    .map((each, i, all) =>
      i >= all.length - 2 || each.ids === undefined ? each : { start: each.start, alerts: each.alerts },
    );
}

/** The windows when what the window at this time counted was taken up. */
export function withoutIds(
  windows: readonly RuleWindow[],
  time: number,
  windowMs: number,
): readonly RuleWindow[] {
  const window = windowAt(windows, time, windowMs);
  return windows.map((each) => (each === window ? { start: each.start, alerts: each.alerts } : each));
}
