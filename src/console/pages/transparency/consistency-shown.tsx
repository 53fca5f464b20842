import { useRef } from 'preact/hooks';
import { sha256 } from '../../../client/sha256.ts';
import { AuditFault } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import { equalHashes, type Hash as HashBytes } from '../../../tlog/tree.ts';
import { useKeys } from '../../state/keys.ts';
import { counted, number } from '../../ui/format.ts';
import { Hash } from '../../ui/values.tsx';
import { Check, FaultText, Tick } from './check.tsx';
import { ConsistencyPicture } from './consistency-picture.tsx';
import type { Comparison, SizedHead } from './heads-to-compare.ts';
import { KeyFacts } from './key-facts.tsx';
import { useWidth } from './measured.ts';
import { Moment } from './moment.tsx';
import { climbBoth, consistencyWalk, proofLength } from './old-in-new.ts';
import { StepButtons, useStepping } from './stepping.tsx';
import { countedLeaves, spokenLeaves } from './tree-parts.tsx';
import { Verdict } from './verdict.tsx';
import './proof-shown.css';
import './path-steps.css';

const sources = {
  pinned: 'pinned by this browser when it was first seen',
  signed: 'signed head as served by the log now',
  tiles: 'no head of this size was signed; root computed from the published tiles',
} as const;

/** Two heads and the consistency proof between them, verified in this browser. */
export function ConsistencyShown({ comparison }: { comparison: Comparison }) {
  const { first, second, path, fault, keys } = comparison;
  const walk = consistencyWalk(first.size, second.size);
  const both = climbBoth(sha256, walk, first.root, path);
  const identity = `${first.size} ${second.size} ${bytesToHex(second.root)}`;
  const stepping = useStepping(identity, walk.steps.length);
  const { done } = stepping;
  const finished = done === walk.steps.length;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host, 640);
  useKeys('Consistency', {
    j: { title: 'Next proof step', run: () => stepping.goTo(done + 1) },
    k: { title: 'Previous proof step', run: () => stepping.goTo(done - 1) },
  });
  const start = walk.startsWithRoot ? first.root : path[0];
  const firstRoot = both.first.at(-1) ?? start;
  const secondRoot = both.second.at(-1) ?? start;
  const signatures = [first, second].map(({ key }) => key);
  const forked = first.differs ?? second.differs;
  const sound = fault === undefined && forked === undefined && !signatures.some((key) => key instanceof AuditFault);
  const kind = !finished ? 'waiting' : sound ? 'good' : 'bad';
  return (
    <div class="proof">
      <Verdict
        state={kind}
        title={
          kind === 'waiting'
            ? 'Verifying in your browser'
            : kind === 'good'
              ? `The log is append-only: its first ${counted(first.size, 'entry is', 'entries are')} unchanged`
              : `The tree of size ${number(second.size)} does not extend the tree of size ${number(first.size)}`
        }
        about={
          kind === 'bad'
            ? 'Save this page as evidence. The mismatch is shown below.'
            : `${counted(second.size - first.size, 'entry', 'entries')} added since. Verified in your browser, not by the server. ${proofStrength(first)}`
        }
      />
      {forked !== undefined && (
        <Check state="bad" title="The log now serves a different head for a size that this browser pinned">
          Current root: <Hash value={forked.root} what="Current root" whole />
        </Check>
      )}
      <div class="proof-columns">
        <section class="panel stack">
          <h2>Tree heads</h2>
          <HeadFacts title="Earlier" head={first} computed={finished ? firstRoot : undefined} keys={keys} />
          <HeadFacts title="Later" head={second} computed={finished ? secondRoot : undefined} keys={keys} />
          {fault !== undefined && <FaultText fault={fault} />}
        </section>
        <section class="panel stack">
          <div class="row spread">
            <h2>Consistency proof: {counted(proofLength(walk), 'hash', 'hashes')}</h2>
            <StepButtons stepping={stepping} count={walk.steps.length} goTo={stepping.goTo} />
          </div>
          <div ref={host} class={walk.steps.length > 24 ? 'proof-picture proof-picture-deep' : 'proof-picture'}>
            <ConsistencyPicture
              first={first.size}
              second={second.size}
              walk={walk}
              done={done}
              broken={fault !== undefined}
              width={Math.max(280, Math.min(width, 900))}
            />
          </div>
          <p class="legend quiet">
            <span>
              <i class="legend-old" /> in both trees
            </span>
            <span>
              <i class="legend-new" /> added since
            </span>
            <span>■ nodes of the earlier tree</span>
            <span>○ nodes of the later tree</span>
          </p>
          <ol class="path-steps" aria-label="Steps of the consistency proof">
            <li class="path-step path-step-good">
              <Tick state="good" />
              <span class="path-step-what">
                <b>Start</b> <span class="quiet">{spokenLeaves(walk.start)}</span>
              </span>
              <span class="path-step-gives">
                {walk.startsWithRoot ? 'the earlier root itself ' : ''}
                {start !== undefined && <Hash value={start} what="Start of both computations" />}
              </span>
            </li>
            {walk.steps.map((step, i) => {
              const hash = path[walk.startsWithRoot ? i : i + 1];
              const known = i < done && hash !== undefined;
              const state = fault !== undefined && finished ? 'bad' : 'good';
              return (
                <li key={i} class={`path-step ${known ? `path-step-${state}` : ''}`}>
                  <Tick state={known ? state : 'open'} />
                  <span class="path-step-what">
                    <b>Step {i + 1}</b>{' '}
                    <span class="quiet" title={spokenLeaves(step)}>
                      {step.age}: {countedLeaves(step)}
                    </span>
                  </span>
                  <span class="path-step-sum mono">
                    {hash === undefined ? 'missing' : <Hash value={hash} what={`Hash ${i + 1} of the proof`} />}{' '}
                    <span class="path-step-own">{step.age === 'old' ? 'both roots' : 'later root only'}</span>
                  </span>
                  <span class="path-step-gives">
                    {known ? (
                      <>
                        = <Hash value={both.second[i]!} what={`Later root after step ${i + 1}`} />
                      </>
                    ) : (
                      <span class="quiet">not computed yet</span>
                    )}
                  </span>
                </li>
              );
            })}
          </ol>
        </section>
      </div>
    </div>
  );
}

/** Describes what the comparison proves. A head that this browser pinned cannot have been replaced since. */
const proofStrength = ({ from }: SizedHead): string =>
  from === 'pinned'
    ? 'The earlier head was pinned by this browser.'
    : 'The earlier head was not pinned, so this shows only that the log is consistent now.';

function HeadFacts({
  title,
  head: { size, root, from, head, key },
  computed,
  keys,
}: {
  title: string;
  head: SizedHead;
  computed: HashBytes | undefined;
  keys: Comparison['keys'];
}) {
  const isSame = computed !== undefined && equalHashes(computed, root);
  const isFromTiles = from === 'tiles';
  return (
    <div class="stack">
      <h3>
        {title}: {counted(size, 'entry', 'entries')}
      </h3>
      <p class="quiet">
        {sources[from]}
        {head !== undefined && (
          <>
            , at <Moment ns={head.timestampNs} />
          </>
        )}
      </p>
      <dl class={computed !== undefined && !isSame ? 'roots roots-differ' : 'roots'}>
        <div>
          <dt>{isFromTiles ? 'Root from tiles' : 'Signed root'}</dt>
          <dd>
            <Hash value={root} what="Root" whole />
          </dd>
        </div>
        <div>
          <dt>{computed === undefined ? 'Computed' : isSame ? '= computed ✓' : '≠ computed ✕'}</dt>
          <dd>{computed === undefined ? '…' : <Hash value={computed} what="Computed root" whole />}</dd>
        </div>
      </dl>
      {key !== undefined && (
        <ul class="checks">
          <Check
            state={key instanceof AuditFault ? 'bad' : 'good'}
            title={key instanceof AuditFault ? 'Invalid signature' : 'Valid signature'}
          >
            {key instanceof AuditFault ? (
              <FaultText fault={key} />
            ) : (
              <details>
                <summary>Signing key</summary>
                <KeyFacts of={key} keys={keys} />
              </details>
            )}
          </Check>
        </ul>
      )}
    </div>
  );
}
