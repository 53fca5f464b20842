import { now } from '../state/clock.ts';
import { duration, exact, instant, relative } from './format.ts';

/** A moment: how long ago, and exactly when on hover; or exactly, and how long ago on hover. */
export function Time({ at, as = 'relative' }: { at: string | number; as?: 'relative' | 'exact' }) {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  const iso = Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
  return as === 'relative' ? (
    <time dateTime={iso} title={exact(ms)}>
      {relative(ms, now.value)}
    </time>
  ) : (
    <time class="mono" dateTime={iso} title={`${relative(ms, now.value)}, ${exact(ms)}`}>
      {instant(ms)}
    </time>
  );
}

export function Duration({ ms }: { ms: number }) {
  return <span title={`${ms} ms`}>{duration(ms)}</span>;
}
