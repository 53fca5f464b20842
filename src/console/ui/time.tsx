import { now } from '../state/clock.ts';
import { exact, instant, relative } from './format.ts';

/** A time as an age with the exact time on hover, or vice versa. */
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
