import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AuditFault, type KeySet } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import { useKeys } from '../../state/keys.ts';
import { Button } from '../../ui/button.tsx';
import { counted, number } from '../../ui/format.ts';
import { Hash } from '../../ui/values.tsx';
import { Check, type CheckState, FaultText } from './check.tsx';
import { EntryBytes } from './entry-bytes.tsx';
import { EntryFacts } from './entry-facts.tsx';
import { isSound, judge, type Provable } from './judged.ts';
import { KeyFacts } from './key-facts.tsx';
import { useWidth } from './measured.ts';
import { Moment } from './moment.tsx';
import { PathPicture } from './path-picture.tsx';
import { PathSteps } from './path-steps.tsx';
import { PinCheck } from './pin-check.tsx';
import { StepButtons, type Stepping, useStepping } from './stepping.tsx';
import { changeOneCharacter } from './tamper.ts';
import { countedLeaves } from './tree-parts.tsx';
import { Verdict } from './verdict.tsx';
import './proof-shown.css';

/**
 * Offset of the changed character. It is within the value of `actor` at the beginning of canonical entries, so that the
 * change is visible.
 */
const tried = 12;

/**
 * Inclusion proof of an entry, computed in this browser: the bytes and their hash, the path to the root, the
 * signed head, and the keys. The bytes can be changed to see that they lead to a different root.
 */
export function ProofShown({
  proof,
  keys,
  keysFrom,
  soundTitle = 'Verified in your browser, not by the server',
  actions,
}: {
  proof: Provable;
  /** The trusted keys. */
  keys: KeySet;
  /** Description of the origin of the keys. */
  keysFrom: ComponentChildren;
  /** Title if everything verifies. */
  soundTitle?: string;
  actions?: ComponentChildren;
}) {
  const { head, leafIndex, path } = proof;
  const original = 'canonical' in proof.leaf ? proof.leaf.canonical : undefined;
  const [altered, setAltered] = useState<Uint8Array | undefined>(undefined);
  const [editing, setEditing] = useState(false);
  const identity = `${leafIndex} ${bytesToHex(head.signature)}`;
  useEffect(() => {
    setAltered(undefined);
    setEditing(false);
  }, [identity]);
  const bytes = altered ?? original;
  const judged = judge({ ...proof, ...(altered && { leaf: { canonical: altered } }) }, keys);
  const { steps, nodes, leafHash, computedRoot, isIncluded, inclusion, headKey, entry } = judged;
  const stepping = useStepping(`${identity} ${bytesToHex(leafHash)}`, steps.length);
  const { done } = stepping;
  const finished = done === steps.length;
  const [current, setCurrent] = useState<number | undefined>(undefined);
  const goTo = (next: number) => {
    stepping.goTo(next);
    setCurrent(next > 0 ? Math.min(next, steps.length) - 1 : undefined);
  };
  const sound = isSound(judged);
  const change = () => {
    if (original !== undefined) setAltered(changeOneCharacter(bytes ?? original, tried));
  };
  const restore = () => {
    setAltered(undefined);
    setEditing(false);
  };
  useKeys('Proof', {
    j: { title: 'Next path step', run: () => goTo(done + 1) },
    k: { title: 'Previous path step', run: () => goTo(done - 1) },
    ...(original && {
      t: { title: 'Change one character / restore', run: altered ? restore : change },
    }),
  });
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host, 640);
  // If correctly signed bytes are not included, the path may be wrong, so the leaf is not marked as bad.
  const leafState: CheckState = isIncluded ? 'good' : entry instanceof AuditFault ? 'bad' : 'open';
  const pathState: CheckState = finished ? (isIncluded ? 'good' : 'bad') : 'waiting';
  return (
    <div class="proof">
      <Verdict
        state={!finished ? 'waiting' : sound ? 'good' : 'bad'}
        title={sound && finished ? soundTitle : titleOf(stepping, steps.length, altered !== undefined)}
        about={keysFrom}
      >
        {original !== undefined &&
          (altered === undefined ? (
            <Button hint="t" onClick={change}>
              Change one character
            </Button>
          ) : (
            <>
              <Button kind="primary" hint="t" onClick={restore}>
                Restore
              </Button>
              <Button onClick={change}>Change another character</Button>
            </>
          ))}
        {original !== undefined && (
          <Button aria-pressed={editing} onClick={() => setEditing(!editing)}>
            Edit bytes
          </Button>
        )}
        {actions}
      </Verdict>
      <div class="proof-columns">
        <section class="panel stack">
          <h2>Entry {number(leafIndex)}</h2>
          {bytes === undefined || original === undefined ? (
            <p class="quiet">
              Reading the bytes requires a role. The hash and the path are public: they prove that this entry exists and
              is the same for all readers.
            </p>
          ) : (
            <>
              <EntryFacts bytes={bytes} />
              {editing ? (
                <textarea
                  class="input mono proof-edit"
                  aria-label="Entry bytes as text"
                  spellcheck={false}
                  value={new TextDecoder().decode(bytes)}
                  onInput={(event) => setAltered(new TextEncoder().encode(event.currentTarget.value))}
                />
              ) : (
                <EntryBytes bytes={bytes} {...(altered && { original })} />
              )}
            </>
          )}
          <ul class="checks">
            <Check state={leafState} title="Leaf hash: SHA-256 of a zero byte and the entry bytes">
              <Hash value={leafHash} what="Leaf hash" whole />
            </Check>
            {entry !== undefined && (
              <Check
                state={entry instanceof AuditFault ? 'bad' : 'good'}
                title={
                  entry instanceof AuditFault
                    ? 'Invalid entry signature'
                    : 'Valid entry signature by an event-signing key'
                }
              >
                {entry instanceof AuditFault ? (
                  <FaultText fault={entry} />
                ) : (
                  <details>
                    <summary>Signing key</summary>
                    <KeyFacts of={entry.key} keys={keys} />
                  </details>
                )}
              </Check>
            )}
          </ul>
        </section>
        <section class="panel stack">
          <div class="row spread">
            <h2>Path to the root: {counted(steps.length, 'step')}</h2>
            <StepButtons stepping={stepping} count={steps.length} goTo={goTo} />
          </div>
          <div ref={host} class={steps.length > 24 ? 'proof-picture proof-picture-deep' : 'proof-picture'}>
            <PathPicture
              leafIndex={leafIndex}
              treeSize={head.size}
              steps={steps}
              done={done}
              current={current}
              broken={!isIncluded}
              labels={nodes.map((hash) => bytesToHex(hash.subarray(0, 3)))}
              leafLabel={bytesToHex(leafHash.subarray(0, 3))}
              width={Math.max(280, Math.min(width, 900))}
            />
          </div>
          <Roots computed={finished ? computedRoot : undefined} signed={head.root} isSame={isIncluded} />
          <PathSteps
            judged={judged}
            path={path}
            done={done}
            current={current}
            isSame={isIncluded}
            onStep={(step) => goTo(step + 1)}
          />
        </section>
      </div>
      <section class="panel stack">
        <h2>Checks</h2>
        <ul class="checks">
          <Check
            state={pathState}
            title={
              finished
                ? isIncluded
                  ? `The path leads from the entry to the signed root of ${countedLeaves({ from: 0, to: head.size })}`
                  : 'The path leads to a different root than the signed one'
                : 'Computing the path'
            }
          >
            {finished && inclusion !== undefined && <FaultText fault={inclusion} />}
          </Check>
          <Check
            state={headKey instanceof AuditFault ? 'bad' : 'good'}
            title={
              headKey instanceof AuditFault
                ? 'The tree head is not signed by a trusted key'
                : `The tree head of size ${number(head.size)} is signed`
            }
          >
            <p>
              Signed at <Moment ns={head.timestampNs} />, signature{' '}
              <Hash value={head.signature} what="Signature of the head" length={12} />
            </p>
            {headKey instanceof AuditFault ? <FaultText fault={headKey} /> : <KeyFacts of={headKey} keys={keys} />}
          </Check>
          <PinCheck head={head} key={identity} signed={headKey} />
        </ul>
      </section>
    </div>
  );
}

function titleOf({ done, isPlaying }: Stepping, steps: number, altered: boolean): string {
  if (isPlaying) return 'Verifying in your browser';
  if (done < steps) return `Stopped after ${done} of ${steps} steps`;
  return altered ? 'Failed: these are not the logged bytes' : 'Verification failed';
}

/** The computed root beside the signed root. */
function Roots({
  computed,
  signed,
  isSame,
}: {
  computed: Uint8Array | undefined;
  signed: Uint8Array;
  isSame: boolean;
}) {
  return (
    <dl class={computed !== undefined && !isSame ? 'roots roots-differ' : 'roots'}>
      <div>
        <dt>Computed root</dt>
        <dd>{computed === undefined ? '…' : <Hash value={computed} what="Computed root" whole />}</dd>
      </div>
      <div>
        <dt>{computed === undefined ? 'Signed root' : isSame ? '= signed root ✓' : '≠ signed root ✕'}</dt>
        <dd>
          <Hash value={signed} what="Signed root" whole />
        </dd>
      </div>
    </dl>
  );
}
