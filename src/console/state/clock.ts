import { type ReadonlySignal, signal } from '@preact/signals';

const second = signal(Date.now());
const halfMinute = signal(Date.now());

/** Epoch milliseconds, every second while the page is seen. For ages that are read as they grow. */
export const now: ReadonlySignal<number> = second;
/** The same, every half minute: for ranges that end now, so that their question stays the same for a while. */
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
