import type { ComponentChildren } from 'preact';
import type { KeySet, SignedCheckpoint } from '../../../client/verifier.ts';
import type { WitnessStatus } from '../../../contract/resources/status.ts';
import { type WitnessFailure, witnessFailures } from '../../../contract/witness-failures.ts';
import { signedIn } from '../../state/session.ts';
import { Command } from '../../ui/command.tsx';
import { number, title } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { Check, type CheckState, FaultText } from './check.tsx';
import { type Cosigned, cosignedBy, otherSigners } from './cosigned.ts';
import './witnesses.css';

/** Failures that time does not heal: either side is not what it says that it is. */
const grave: ReadonlySet<WitnessFailure> = new Set(['inconsistent', 'ahead', 'bad_signature']);

/** What helps against it, where somebody has to do something. */
const advice: Readonly<Partial<Record<WitnessFailure, string>>> = {
  unknown_log: 'Its operator has to name this log to it, by the key above.',
  unknown_key: 'Its operator has to name this log to it, by the key above.',
  inconsistent: 'One of the two shows another history than before: compare with what others have pinned.',
  ahead: 'The log was put back to an older state, or the witness says what is not so.',
  bad_signature: 'The policy names another key than it signs with: its operator can tell which one is right.',
  bad_time: 'Its clock is wrong, or that of the service.',
};

/** A checkpoint that verified, and by which keys. */
export interface Shown {
  readonly checkpoint: SignedCheckpoint;
  readonly keys: KeySet;
}

type Witness = WitnessStatus['witnesses'][number];

/** Who else has seen the log, and signed that it only ever grew: each cosignature is verified here. */
export function WitnessesPart({
  status,
  shown,
}: {
  /** Undefined where there are none, and for who may not see them. */
  status: WitnessStatus | undefined;
  /** Undefined while there is no checkpoint that verifies. */
  shown: Shown | undefined;
}) {
  const witnesses = status?.witnesses ?? [];
  const seen = witnesses.map((witness) => ({
    witness,
    cosigned: shown && cosignedBy(shown.checkpoint, shown.keys, witness.vkey),
  }));
  const others =
    shown === undefined
      ? []
      : otherSigners(
          shown.checkpoint,
          witnesses.map(({ key_name }) => key_name),
        );
  const verified = seen.filter(({ cosigned }) => cosigned?.kind === 'verified').length;
  return (
    <section class="panel stack" aria-label="Witnesses">
      <h2>
        {status === undefined
          ? 'Witnesses'
          : `Witnesses: ${number(verified)} of ${number(witnesses.length)} cosigned`}
      </h2>
      {status === undefined ? (
        <p class="quiet">
          A witness elsewhere cosigns only what extends what it cosigned before, so that the log can't show
          one history to some and another to others.{' '}
          {signedIn.value
            ? 'None is configured, or your role may not see them.'
            : 'Who is signed in sees which are asked.'}{' '}
          The operator names them in <code>witness.policy</code>; <code>npx candor witness</code> is one.
        </p>
      ) : (
        <Quorum status={status} />
      )}
      {seen.length + others.length > 0 && (
        <ul class="checks">
          {seen.map(({ witness, cosigned }) => (
            <OneWitness key={witness.key_name} witness={witness} cosigned={cosigned} />
          ))}
          {others.map((name) => (
            <Check key={name} state="open" title={<bdi>{name}</bdi>}>
              Signed in its name; its key is not known here, so that it was not checked.
            </Check>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What only the service can say: which witnesses are enough for it, and what it waits for. */
function Quorum({ status: { quorum, published_size, candidate_size } }: { status: WitnessStatus }) {
  if (candidate_size === undefined) return <p class="quiet">Nothing was put before them yet.</p>;
  const waits = `of ${number(candidate_size)} entries, waits for cosignatures.`;
  if (published_size === undefined)
    return <Wanting>None has enough cosignatures for the policy yet: the first, {waits}</Wanting>;
  return (
    <>
      {quorum ? (
        <p>The service says that this is enough for its policy.</p>
      ) : (
        <Wanting>The service says that this is not enough for its policy.</Wanting>
      )}
      {candidate_size !== published_size && <Wanting>A newer checkpoint, {waits}</Wanting>}
    </>
  );
}

function Wanting({ children }: { children: ComponentChildren }) {
  return (
    <p class="witness-wanting">
      <span aria-hidden="true">▲ </span>
      {children}
    </p>
  );
}

function OneWitness({ witness, cosigned }: { witness: Witness; cosigned: Cosigned | undefined }) {
  const { name, vkey, failing } = witness;
  return (
    <Check state={stateOf(cosigned, failing)} title={<bdi>{name}</bdi>}>
      {cosigned?.kind === 'verified' && (
        <p>
          Its cosignature was verified in your browser, dated <Time at={cosigned.atMs} as="exact" />.
        </p>
      )}
      {cosigned?.kind === 'missing' && <p>This checkpoint has no cosignature by its key.</p>}
      {cosigned?.kind === 'refused' && <FaultText fault={cosigned.fault} />}
      {failing !== undefined && (
        <p>
          <span class="witness-wanting">
            <span aria-hidden="true">▲ </span>It {witnessFailures[failing]}.
          </span>{' '}
          {advice[failing]}
        </p>
      )}
      <p>{history(witness)}</p>
      <details>
        <summary>Its key</summary>
        <p>
          So the service says: hold it against the one that the witness’s operator tells, for the service
          could name any.
        </p>
        <Command text={vkey} />
      </details>
    </Check>
  );
}

function stateOf(cosigned: Cosigned | undefined, failing: WitnessFailure | undefined): CheckState {
  if (cosigned?.kind === 'refused' || (failing !== undefined && grave.has(failing))) return 'bad';
  return cosigned?.kind === 'verified' ? 'good' : 'open';
}

/** What came of asking it since the service started, in words. */
function history({ cosignatures, size, failures }: Witness): string {
  const got =
    cosignatures === 0
      ? 'It cosigned nothing since the service started'
      : `It cosigned ${times(cosignatures)} since the service started`;
  const at = size === undefined ? '' : `, and says that it is at ${number(size)} entries`;
  const all = failures.reduce((sum, failure) => sum + failure.times, 0);
  const kinds = failures.map((failure) => `${witnessFailures[failure.kind]} ${times(failure.times)}`);
  const failed = all === 0 ? '' : ` ${failures.length === 1 ? `Failed ${times(all)}` : sentence(kinds)}.`;
  return `${got}${at}.${failed}`;
}

const times = (count: number): string => (count === 1 ? 'once' : `${number(count)} times`);
const sentence = (parts: readonly string[]): string => title(parts.join(', '));
