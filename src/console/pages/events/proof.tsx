import { useState } from 'preact/hooks';
import {
  AuditFault,
  anchored,
  type EventProofFile,
  parseBundle,
  parseEventProof,
  type SealedEvent,
  verifyBundle,
  verifySealedEvent,
} from '../../../client/verifier.ts';
import { keptPin } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { log } from '../transparency/log.ts';
import { type TableName, tables } from './tables.ts';

interface Proven {
  readonly text: string;
  readonly sealed: SealedEvent;
}

/** Proves in this browser, on request, that the log covers the event. */
export function EventProof({ table, id }: { table: TableName; id: string }) {
  const [result, setResult] = useState<Proven | AuditFault | 'checking'>();
  if (!may(tables[table].proof)) return null;
  const check = async () => {
    setResult('checking');
    setResult(await prove(table, id));
  };
  return (
    <Section title="Proof">
      {result === undefined && <p class="quiet">Proofs are available if the setting transparency.seal_events is on.</p>}
      {result === 'checking' ? (
        <p role="status">Verifying in this browser…</p>
      ) : result instanceof AuditFault ? (
        <p role="alert">
          <strong>{isLater(result) ? '○ Not proven yet.' : '✕ Not proven.'}</strong>{' '}
          <span class="mono">{result.code}</span> <bdi>{result.message}</bdi>
        </p>
      ) : (
        result !== undefined && <Outcome proven={result} />
      )}
      <div class="row">
        <Button onClick={() => void check()} disabled={result === 'checking'}>
          {result === undefined ? 'Prove this event' : 'Verify again'}
        </Button>
        {typeof result === 'object' && !(result instanceof AuditFault) && (
          <Button onClick={() => saveText(`candor-event-${id}.json`, result.text)}>Download proof</Button>
        )}
      </div>
    </Section>
  );
}

const isLater = ({ kind }: AuditFault) => kind === 'unavailable';

function Outcome({ proven: { sealed } }: { proven: Proven }) {
  return (
    <div role="status">
      <p>
        <strong>✓ Verified in this browser</strong>: the log covers the event with these values.
      </p>
      {sealed.derived.length > 0 && (
        <p class="quiet">Derived by the service and not covered: {sealed.derived.join(', ')}.</p>
      )}
      <p class="quiet">The proof also discloses {counted(sealed.neighbours, 'neighbouring event')}.</p>
    </div>
  );
}

/**
 * Fetches the proof, and verifies the proof with the keys pinned in this browser or, without a pin, with the keys in
 * the proof.
 */
async function prove(table: TableName, id: string): Promise<Proven | AuditFault> {
  const text = await log.get(`/api/v1/events/${table}/${id}/proof`);
  if (text instanceof AuditFault) return text;
  const file = parseEventProof(text);
  if (file instanceof AuditFault) return file;
  if (file.event.id !== id) return new AuditFault('WRONG_EVENT', `the proof is for event ${file.event.id}`);
  const sealed = verifyFile(file);
  return sealed instanceof AuditFault ? sealed : { text, sealed };
}

function verifyFile(file: EventProofFile): SealedEvent | AuditFault {
  const bundle = parseBundle(file.bundle);
  if (bundle instanceof AuditFault) return bundle;
  const pin = keptPin();
  const keys = pin === undefined || pin instanceof AuditFault ? bundle.keys : anchored(bundle.keys, pin.keys);
  const entry = verifyBundle({ ...bundle, keys });
  return entry instanceof AuditFault ? entry : verifySealedEvent(file, entry);
}
