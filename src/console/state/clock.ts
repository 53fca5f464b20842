import { type ReadonlySignal, signal } from '@preact/signals';

const second = signal(Date.now());
const halfMinute = signal(Date.now());

/** Current time in epoch milliseconds, updated every second while the page is visible. For ages on screen. */
export const now: ReadonlySignal<number> = second;
/**
 * Current time, updated every 30 s. Ranges up to now end at this time, so that their requests stay equal for a while.
 */
export const recently: ReadonlySignal<number> = halfMinute;

export function runClock(): void {
  const tick = () => {
    if (document.hidden) return;
    second.value = Date.now();
    if (second.value - halfMinute.value >= 30_000) halfMinute.value = second.value;
  };
  setInterval(tick, 1000);
  document.addEventListener('visibilitychange', tick);
}
