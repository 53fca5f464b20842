import type { Hash as HashBytes } from '../../../tlog/tree.ts';
import { number } from '../../ui/format.ts';
import { Hash } from '../../ui/values.tsx';
import { Tick } from './check.tsx';
import type { Judged } from './judged.ts';
import { countedLeaves, spokenLeaves } from './tree-parts.tsx';
import './path-steps.css';

/** The steps of the path as a list, from the leaf hash to the root. */
export function PathSteps({
  judged,
  path,
  done,
  current,
  isSame,
  onStep,
}: {
  judged: Judged;
  path: readonly HashBytes[];
  done: number;
  current: number | undefined;
  /** Whether the path leads to the signed root. */
  isSame: boolean;
  onStep: (step: number) => void;
}) {
  const { steps, nodes, leafHash } = judged;
  const state = isSame ? 'good' : 'bad';
  return (
    <ol class="path-steps" aria-label="Steps from the leaf to the root">
      <li class={`path-step path-step-${state}`}>
        <Tick state={state} />
        <span class="path-step-what">
          <b>Leaf</b> <span class="quiet mono">SHA-256(0x00 ‖ bytes)</span>
        </span>
        <span class="path-step-gives">
          = <Hash value={leafHash} what="Leaf hash" />
        </span>
      </li>
      {steps.map(({ side, sibling, node }, i) => {
        const known = i < done;
        const hash = path[i];
        const gives = nodes[i];
        if (hash === undefined || gives === undefined) return null;
        const beside = <Hash value={hash} what={`Hash ${i + 1} of the path`} />;
        const own = <span class="path-step-own">{i === 0 ? 'leaf' : `step ${i}`}</span>;
        const classes = ['path-step', known && `path-step-${state}`, i === current && 'path-step-current'];
        return (
          <li key={i} class={classes.filter(Boolean).join(' ')}>
            <Tick state={known ? state : 'open'} />
            <span class="path-step-what">
              <button type="button" class="path-step-number" onClick={() => onStep(i)}>
                Step {i + 1}
              </button>{' '}
              <span class="quiet" title={spokenLeaves(sibling)}>
                {countedLeaves(sibling)}, {side}
              </span>
            </span>
            <span class="path-step-sum mono">
              {side === 'left' ? (
                <>
                  {beside} ‖ {own}
                </>
              ) : (
                <>
                  {own} ‖ {beside}
                </>
              )}
            </span>
            <span class="path-step-gives">
              {known ? (
                <>
                  = <Hash value={gives} what={i === steps.length - 1 ? 'Computed root' : `Result of step ${i + 1}`} />
                  <span class="quiet"> over {number(node.to - node.from)}</span>
                </>
              ) : (
                <span class="quiet">not computed yet</span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
