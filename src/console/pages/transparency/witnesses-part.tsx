import type { ComponentChildren } from 'preact';
import type { KeySet, SignedCheckpoint } from '../../../client/verifier.ts';
import type { WitnessStatus } from '../../../contract/resources/status.ts';
import { type WitnessFailure, witnessFailures } from '../../../contract/witness-failures.ts';
import { signedIn } from '../../state/session.ts';
import { Command } from '../../ui/command.tsx';
import { counted, number, title } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import { Check, type CheckState, FaultText } from './check.tsx';
import { type Cosigned, cosignedBy, otherSigners } from './cosigned.ts';
import './witnesses.css';

/** Failures that do not resolve over time: the log or the witness misbehaves or is misconfigured. */
const severe: ReadonlySet<WitnessFailure> = new Set(['inconsistent', 'ahead', 'bad_signature']);

/** Recommended action for each failure. */
const advice: Readonly<Partial<Record<WitnessFailure, string>>> = {
  unknown_log: 'Ask the witness’s operator to add this log, with the verifier key above.',
  unknown_key: 'Ask the witness’s operator to add this log, with the verifier key above.',
  inconsistent: 'The log or the witness changed its history: compare with the pins of other auditors.',
  ahead: 'The log was restored to an older state, or the witness reports a wrong size.',
  bad_signature:
    'The witness signs with a different key than the one in the policy: ask the operator of the witness for its key.',
  bad_time: 'The clock of the witness or of the service is wrong.',
};

/** A verified checkpoint and the keys that it was verified with. */
export interface Shown {
  readonly checkpoint: SignedCheckpoint;
  readonly keys: KeySet;
}

type Witness = WitnessStatus['witnesses'][number];

/** The witnesses of the log and their cosignatures, each verified in this browser. */
export function WitnessesPart({
  status,
  shown,
}: {
  /** The status of the witnesses; undefined if no witnesses are configured, or if the user cannot see them. */
  status: WitnessStatus | undefined;
  /** The checkpoint to show; undefined if there is no verified checkpoint. */
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
        {status === undefined ? 'Witnesses' : `Witnesses: ${number(verified)} of ${number(witnesses.length)} cosigned`}
      </h2>
      {status === undefined ? (
        <p class="quiet">
          Independent witnesses cosign a checkpoint only if it extends the last one they cosigned, so that the log
          cannot show different histories to different readers.{' '}
          {signedIn.value
            ? 'No witnesses are configured, or your role cannot see them.'
            : 'Sign in to see the configured witnesses.'}{' '}
          Configure them with <code>witness.policy</code>; run one with <code>npx candor witness</code>.
        </p>
      ) : (
        <Quorum status={status} />
      )}
      {seen.length + others.length > 0 && (
        <ul class="checks">
          {seen.map(({ witness, cosigned }) => (
            <WitnessCheck key={witness.key_name} witness={witness} cosigned={cosigned} />
          ))}
          {others.map((name) => (
            <Check key={name} state="open" title={<bdi>{name}</bdi>}>
              This signer’s key is not known here, so the signature was not verified.
            </Check>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The service's own view: whether the quorum is met, and which checkpoint is pending. */
function Quorum({ status: { quorum, published_size, candidate_size } }: { status: WitnessStatus }) {
  if (candidate_size === undefined) return <p class="quiet">No checkpoint submitted yet.</p>;
  const waits = `at ${counted(candidate_size, 'entry', 'entries')}, is waiting for cosignatures.`;
  if (published_size === undefined)
    return <Pending>No checkpoint meets the quorum yet: the first one, {waits}</Pending>;
  return (
    <>
      {quorum ? (
        <p>The service reports that the quorum is met.</p>
      ) : (
        <Pending>The service reports that the quorum is not met.</Pending>
      )}
      {candidate_size !== published_size && <Pending>A newer checkpoint, {waits}</Pending>}
    </>
  );
}

function Pending({ children }: { children: ComponentChildren }) {
  return (
    <p class="witness-wanting">
      <span aria-hidden="true">▲ </span>
      {children}
    </p>
  );
}

function WitnessCheck({ witness, cosigned }: { witness: Witness; cosigned: Cosigned | undefined }) {
  const { name, vkey, failing } = witness;
  return (
    <Check state={stateOf(cosigned, failing)} title={<bdi>{name}</bdi>}>
      {cosigned?.kind === 'verified' && (
        <p>
          Cosignature verified in your browser, dated <Time at={cosigned.atMs} as="exact" />.
        </p>
      )}
      {cosigned?.kind === 'missing' && <p>This checkpoint is not cosigned by this witness.</p>}
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
        <summary>Verifier key</summary>
        <p>
          This key is reported by the service. Compare it with the key published by the witness’s operator, because the
          service could report any key.
        </p>
        <Command text={vkey} />
      </details>
    </Check>
  );
}

function stateOf(cosigned: Cosigned | undefined, failing: WitnessFailure | undefined): CheckState {
  if (cosigned?.kind === 'refused' || (failing !== undefined && severe.has(failing))) return 'bad';
  return cosigned?.kind === 'verified' ? 'good' : 'open';
}

/** Summarises the witness's responses since the service started. */
function history({ cosignatures, size, failures }: Witness): string {
  const got =
    cosignatures === 0
      ? 'No cosignatures since the service started'
      : `Cosigned ${times(cosignatures)} since the service started`;
  const at = size === undefined ? '' : `; last reported size ${number(size)}`;
  const all = failures.reduce((sum, failure) => sum + failure.times, 0);
  const kinds = failures.map((failure) => `${witnessFailures[failure.kind]} ${times(failure.times)}`);
  const failed = all === 0 ? '' : ` ${failures.length === 1 ? `Failed ${times(all)}` : sentence(kinds)}.`;
  return `${got}${at}.${failed}`;
}

const times = (count: number): string => (count === 1 ? 'once' : `${number(count)} times`);
const sentence = (parts: readonly string[]): string => title(parts.join(', '));
