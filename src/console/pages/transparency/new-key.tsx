import { useState } from 'preact/hooks';
import { type FaultCode, writePin } from '../../../client/verifier.ts';
import { checkLog, type PinState, pinState } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { counted } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { Hash } from '../../ui/values.tsx';
import { pinFileName } from './pin-panel.tsx';
import './new-key.css';

type Unconfirmed = Extract<PinState, { kind: 'unconfirmed' }>;

const texts: { readonly [Code in FaultCode]?: readonly [title: string, meaning: string] } = {
  NEW_LIFE: [
    'The log continues under a new key',
    'Its first entry under this key records that the log was restored from a backup, copied, or continued after a loss.',
  ],
  NEW_LOG: [
    'A new log was started',
    'Its first entry records that the operator started a new log with new keys. The old entries are not in it.',
  ],
  WRONG_ORIGIN: [
    'The log has a new name',
    'Its checkpoints are published under a different origin than the pinned one.',
  ],
};
const otherTexts = [
  'The log uses an unknown key',
  'The pinned keys did not sign a rotation to this key. This is expected after a key was revoked.',
] as const;

/** Banner above all views while the log uses a key that the user has not confirmed. */
export function NewKey() {
  const state = pinState.value;
  return state.kind === 'unconfirmed' ? <NewKeyNow state={state} /> : null;
}

function NewKeyNow({ state }: { state: Unconfirmed }) {
  const [asking, setAsking] = useState(false);
  const { fault, fingerprint, pin } = state;
  const [title, meaning] = texts[fault.code] ?? otherTexts;
  return (
    <section class="new-key" aria-label={title}>
      <div role="status">
        <h2>{title}</h2>
      </div>
      <p>
        {meaning} This is not evidence of tampering, but an impostor would have a new key too. The browser verifies the
        log again once you have confirmed the key.
        {pin !== undefined &&
          ` Until then, this browser keeps its pin at ${counted(pin.head.size, 'entry', 'entries')}.`}
      </p>
      <p class="quiet">
        <span class="mono">{fault.code}</span>: <bdi>{fault.message}</bdi>
      </p>
      <p>
        Key fingerprint: <Hash value={fingerprint} what="Fingerprint" whole />
      </p>
      <div class="row">
        <Button kind="primary" onClick={() => setAsking(true)}>
          Confirm key…
        </Button>
        <Button onClick={() => void checkLog()}>Check again</Button>
        {pin !== undefined && <Button onClick={() => saveText(pinFileName, writePin(pin))}>Export pin</Button>}
      </div>
      {asking && <ConfirmDialog fingerprint={fingerprint} onClose={() => setAsking(false)} />}
    </section>
  );
}

function ConfirmDialog({ fingerprint, onClose }: { fingerprint: string; onClose: () => void }) {
  const confirm = async () => {
    onClose();
    const found = await checkLog(fingerprint);
    if (found.kind === 'verified') say(`Key confirmed; pinned at size ${found.pin.head.size}`);
    else sayFailure('Not pinned', 'fault' in found ? found.fault.message : found.kind);
  };
  return (
    <Dialog title="Confirm key" onClose={onClose}>
      <p>
        Compare the fingerprint with the one that the operator gives you in person or by phone, or with the service’s
        startup output.
      </p>
      <p>
        <Hash value={fingerprint} what="Fingerprint" whole />
      </p>
      <p>
        The browser will then pin the log with this key. Entries that the log lost will no longer be reported as
        missing.
      </p>
      <div class="row">
        <Button kind="primary" onClick={() => void confirm()}>
          The fingerprints match
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
