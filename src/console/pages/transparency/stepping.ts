import { useEffect, useState } from 'preact/hooks';

const stepMs = 90;
/** Duration of the whole animation for long paths, in milliseconds. */
const wholeMs = 1600;
const reduced = matchMedia('(prefers-reduced-motion: reduce)');

export interface Stepping {
  /** Number of steps made. */
  readonly done: number;
  readonly isPlaying: boolean;
  /** Moves to the state after this number of steps and stops there. */
  readonly goTo: (done: number) => void;
  readonly play: () => void;
}

/** Animates the steps whenever `subject` changes. There is no animation if the system prefers reduced motion. */
export function useStepping(subject: string, count: number): Stepping {
  const [done, setDone] = useState(reduced.matches ? count : 0);
  const [isPlaying, setPlaying] = useState(!reduced.matches);
  const [run, setRun] = useState(0);
  useEffect(() => {
    setDone(reduced.matches ? count : 0);
    setPlaying(!reduced.matches);
  }, [subject, count, run]);
  useEffect(() => {
    if (!isPlaying) return;
    if (done >= count) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => setDone(done + 1), Math.min(stepMs, wholeMs / count));
    return () => clearTimeout(timer);
  }, [isPlaying, done, count]);
  return {
    done: Math.min(done, count),
    isPlaying,
    goTo: (next) => {
      setPlaying(false);
      setDone(Math.max(0, Math.min(count, next)));
    },
    play: () => setRun(run + 1),
  };
}
