import { useEffect, useState } from 'preact/hooks';

const stepMs = 90;
/** Long paths are shown in about this time. */
const wholeMs = 1600;
const reduced = matchMedia('(prefers-reduced-motion: reduce)');

export interface Stepping {
  /** Steps that were made so far. */
  readonly done: number;
  readonly isPlaying: boolean;
  /** Goes to after this many steps, and stays there. */
  readonly goTo: (done: number) => void;
  readonly play: () => void;
}

/** Makes steps one after the other whenever `subject` is another; at once where the system asks for no motion. */
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
