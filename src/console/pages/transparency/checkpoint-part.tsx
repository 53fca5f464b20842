import { useEffect } from 'preact/hooks';
import { EmptyLog, NotFound } from '../../../client/log-source.ts';
import { sha256 } from '../../../client/sha256.ts';
import { AuditFault, fetchCheckpoint, fetchKeys } from '../../../client/verifier.ts';
import { formatVerifierKey, parseNote, signatureTypes, verifierKey } from '../../../tlog/note.ts';
import { useAnswer } from '../../state/answers.ts';
import { keptPin, pinState } from '../../state/pin.ts';
import { may, signedIn } from '../../state/session.ts';
import { Command } from '../../ui/command.tsx';
import { Facts } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { Hash } from '../../ui/values.tsx';
import { Check, FaultText } from './check.tsx';
import { KeyFacts } from './key-facts.tsx';
import { log, sameTree, useChecked } from './log.ts';
import { type Shown, WitnessesPart } from './witnesses-part.tsx';

const refreshMs = 10_000;

interface Seen extends Shown {
  /** Whether the checkpoint is consistent with this browser's pin; undefined without a pin. */
  readonly pinned: true | AuditFault | undefined;
}

async function seeCheckpoint(): Promise<Seen | AuditFault> {
  const keys = await fetchKeys(log);
  if (keys instanceof AuditFault) return keys;
  const checkpoint = await fetchCheckpoint(log, keys);
  if (checkpoint instanceof AuditFault) return checkpoint;
  const pin = keptPin();
  const pinned = pin === undefined ? undefined : pin instanceof AuditFault ? pin : await sameTree(pin.head, checkpoint);
  return { checkpoint, keys, pinned };
}

const isSeen = (value: Seen | AuditFault | undefined): value is Seen =>
  value !== undefined && !(value instanceof AuditFault);

/** The tree head as a note for other tools and witnesses (C2SP tlog-checkpoint), and its cosignatures. */
export function CheckpointPart() {
  const { value, again } = useChecked<Seen>(['checkpoint'], seeCheckpoint);
  const status = useAnswer('getStatus', {}, { refreshMs, enabled: signedIn.value && may('getStatus') });
  const witnesses = status.data?.data.attributes.witnesses;
  // Refreshes when a new checkpoint or cosignature is published, and once there is a pin to compare with.
  const published =
    witnesses &&
    JSON.stringify([witnesses.published_size, witnesses.witnesses.map(({ cosignatures }) => cosignatures)]);
  const isPinned = 'pin' in pinState.value && pinState.value.pin !== undefined;
  useEffect(() => {
    if (published !== undefined || isPinned) again();
  }, [published, isPinned]);
  return (
    <div class="log-scrolls stack" tabIndex={0} role="group" aria-label="Checkpoint and witnesses">
      {value === undefined ? (
        <Loading />
      ) : value instanceof EmptyLog ? (
        <Empty title="The log is empty">The first entry creates the first checkpoint.</Empty>
      ) : value instanceof NotFound || (value instanceof AuditFault && value.kind === 'unavailable') ? (
        <Empty title="No checkpoint available">
          <FaultText fault={value} />
        </Empty>
      ) : value instanceof AuditFault ? (
        <ul class="checks">
          <Check state="bad" title="The checkpoint does not verify">
            <FaultText fault={value} />
          </Check>
        </ul>
      ) : (
        <Checkpoint {...value} onAgain={again} />
      )}
      <WitnessesPart status={witnesses} shown={isSeen(value) ? value : undefined} />
    </div>
  );
}

function Checkpoint({ checkpoint, pinned, onAgain }: Seen & { onAgain: () => void }) {
  const { note, origin, size, root, key } = checkpoint;
  const vkey = formatVerifierKey(verifierKey(sha256, origin, signatureTypes.ed25519, key.publicKey));
  return (
    <section class="panel stack wide-facts">
      <div class="row spread">
        <h2>Checkpoint at {counted(size, 'entry', 'entries')}</h2>
        <button type="button" class="button button-plain" onClick={onAgain}>
          Refresh
        </button>
      </div>
      <ul class="checks">
        <Check state="good" title="Signed by the log’s checkpoint key, verified in this browser" />
        <Check
          state={
            pinned === true ? 'good' : pinned instanceof AuditFault && pinned.kind === 'misbehaviour' ? 'bad' : 'open'
          }
          title={pinned === true ? 'Consistent with this browser’s pin' : 'Not compared with a pin'}
        >
          {pinned instanceof AuditFault && <FaultText fault={pinned} />}
        </Check>
      </ul>
      <pre class="log-banner" tabIndex={0} role="group" aria-label="Checkpoint note">
        {note}
      </pre>
      <Facts
        facts={[
          ['Origin', <bdi key="o">{origin}</bdi>],
          ['Root', <Hash key="r" value={root} what="Root" length={16} />],
          [
            'Signatures',
            parseNote(note)
              .signatures.map(({ name }) => name)
              .join(', '),
          ],
        ]}
      />
      <p class="quiet">Verifier key, for witnesses and monitors:</p>
      <Command text={vkey} />
      <details>
        <summary>Signing key</summary>
        <KeyFacts of={key} />
      </details>
    </section>
  );
}
