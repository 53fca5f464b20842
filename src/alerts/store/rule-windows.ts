import type { RuleWindow } from './tables.ts';

/** Maximum new alerts in a window of event time, and the length of the window. */
export interface Bound {
  readonly alerts: number;
  readonly windowMs: number;
}

/**
 * Maximum number of windows stored per limit. Windows of the default length then cover a day, for sensors that
 * deliver late.
 */
const maxRuleWindows = 24;

/**
 * Returns the window to which a new alert at event time `time` belongs; undefined if the alert would begin a
 * window. A window begins with the first alert outside all other windows and includes alerts up to one window
 * length before or after its start, so that neither reordering nor backdating opens more windows. Alerts older
 * than all stored windows belong to the oldest window.
 */
export function windowAt(windows: readonly RuleWindow[], time: number, windowMs: number): RuleWindow | undefined {
  return (
    windows.find(({ start }) => start <= time && time < start + windowMs) ??
    windows.find(({ start }) => start - windowMs < time && time < start) ??
    (windows.length === maxRuleWindows && time < windows[0]!.start ? windows[0] : undefined)
  );
}

/**
 * Counts a new alert at event time `time` and returns the windows. Ids of alerts are stored only for the two
 * newest windows, because older alerts are not part of a current flood.
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

/** Returns the windows, without the ids in the window that contains the time. */
export function withoutIds(windows: readonly RuleWindow[], time: number, windowMs: number): readonly RuleWindow[] {
  const window = windowAt(windows, time, windowMs);
  return windows.map((each) => (each === window ? { start: each.start, alerts: each.alerts } : each));
}
