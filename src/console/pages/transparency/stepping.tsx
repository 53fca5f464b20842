import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';

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

/** Buttons to step through a proof, as the keys j and k do, and to replay the steps. */
export function StepButtons({
  stepping: { done, play },
  count,
  goTo,
}: {
  stepping: Stepping;
  count: number;
  goTo: Stepping['goTo'];
}) {
  return (
    <span class="row">
      <Button kind="plain" hint="k" disabled={done === 0} onClick={() => goTo(done - 1)}>
        Back
      </Button>
      <Button kind="plain" hint="j" disabled={done === count} onClick={() => goTo(done + 1)}>
        Step
      </Button>
      <Button kind="plain" onClick={play}>
        Replay
      </Button>
    </span>
  );
}
