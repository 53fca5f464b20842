import { Button } from '../../ui/button.tsx';
import type { Stepping } from './stepping.ts';

/** Buttons to step through a proof, like j and k, and to replay it. */
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
