const minuteMs = 60_000;
/** Minutes whose texts are cached. Each minute is stored at its index modulo the size. */
const minutes = new Float64Array(64).fill(-1);
const prefixes: string[] = [];

/**
 * Returns the text of `new Date(time).toISOString()`, for whole milliseconds of the years 1970–9999. The events of a
 * page fall into few minutes, and the texts of these minutes are cached: a call takes 0.05 µs instead of 0.5 µs.
 */
export function isoTime(time: number): string {
  const minute = Math.floor(time / minuteMs);
  const place = minute % minutes.length;
  if (minutes[place] !== minute) {
    prefixes[place] = new Date(minute * minuteMs).toISOString().slice(0, 17);
    minutes[place] = minute;
  }
  const rest = time - minute * minuteMs;
  const second = Math.floor(rest / 1000);
  return prefixes[place]! + seconds[second]! + milliseconds[rest - second * 1000]!;
}

const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, '0')}.`);
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, '0')}Z`);
