/**
 * Measures the responsiveness of a page from a trace of Chromium (Trace Event Format). Times in a trace are in
 * microseconds.
 */
export interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly pid: number;
  readonly tid: number;
  readonly args: Readonly<Record<string, unknown>>;
}

const longTaskUs = 50_000;

/**
 * Returns milliseconds from the navigation until the page is usable: the mark is set, and no task of more
 * than 50 ms follows on its main thread.
 */
export function usableMs(events: readonly TraceEvent[], mark: string): number {
  const marked = events.find(({ name, cat }) => name === mark && cat.includes('user_timing'));
  if (marked === undefined) throw new Error(`the trace has no mark ${mark}`);
  const own = events.filter(({ pid, tid }) => pid === marked.pid && tid === marked.tid);
  const began = own
    .filter(({ name, ts }) => name === 'navigationStart' && ts <= marked.ts)
    .reduce((latest, { ts }) => Math.max(latest, ts), 0);
  if (began === 0) throw new Error('the trace has no navigation');
  const ends = own
    .filter(({ name, dur = 0 }) => name === 'RunTask' && dur > longTaskUs)
    .map(({ ts, dur = 0 }) => ts + dur);
  return (Math.max(marked.ts, ...ends) - began) / 1000;
}

/**
 * Returns the frames in which the page could draw: numbers per second, intervals, dropped frames. The page must request
 * every frame.
 */
export function framesOf(events: readonly TraceEvent[]): {
  perSecond: number[];
  /** Intervals in ascending order. */
  intervalsMs: number[];
  dropped: number;
} {
  const frames = events
    .filter(({ name }) => name === 'FireAnimationFrame')
    .map(({ ts }) => ts)
    .toSorted((a, b) => a - b);
  const first = frames[0];
  const last = frames.at(-1);
  if (first === undefined || last === undefined) throw new Error('the trace has no frames');
  const perSecond = Array<number>(Math.floor((last - first) / 1e6)).fill(0);
  for (const ts of frames) {
    const second = Math.floor((ts - first) / 1e6);
    if (second < perSecond.length) perSecond[second]!++;
  }
  const intervalsMs = frames.slice(1).map((ts, i) => (ts - frames[i]!) / 1000);
  return {
    perSecond,
    intervalsMs: intervalsMs.toSorted((a, b) => a - b),
    dropped: events.filter(({ name }) => name === 'DroppedFrame').length,
  };
}
