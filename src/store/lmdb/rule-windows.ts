import { limits } from '../../limits.ts';
import type { RuleWindow } from './tables.ts';

/** Windows remembered for one rule: a day of the default one, for sensors that deliver late. */
const maxRuleWindows = 24;

/**
 * Counts one more new alert of a rule at event time `time`: the windows after it, or undefined when its window is
 * full. A window begins with the first alert outside all others and takes what comes up to a window's length before
 * or after its start, so that neither order nor backdating opens more of them. What is older than all windows that
 * are remembered belongs to the oldest.
 */
export function countNewAlert(
  windows: readonly RuleWindow[],
  time: number,
  windowMs: number,
): readonly RuleWindow[] | undefined {
  const window =
    windows.find(({ start }) => start <= time && time < start + windowMs) ??
    windows.find(({ start }) => start - windowMs < time && time < start) ??
    (windows.length === maxRuleWindows && time < windows[0]!.start ? windows[0] : undefined);
  if (window === undefined)
    return [...windows, { start: time, alerts: 1 }].sort((a, b) => a.start - b.start).slice(-maxRuleWindows);
  if (window.alerts >= limits.maxAlertsPerRuleWindow) return undefined;
  return windows.map((each) => (each === window ? { start: each.start, alerts: each.alerts + 1 } : each));
}
