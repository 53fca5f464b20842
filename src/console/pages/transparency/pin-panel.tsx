import { useRef, useState } from 'preact/hooks';
import { AuditFault, fingerprint, type Pin, writePin } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { checkLog, importPin, keptPin, pinHistory, pinState, replacePin } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { Facts } from '../../ui/detail.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import { Moment } from './moment.tsx';
import './pin-panel.css';

export const pinFileName = 'candor.pin.json';
/** Maximum size of an imported pin, in bytes. A pin with the keys of a hundred years has 10 MB. */
const maxFileBytes = 32 * 2 ** 20;

/** The pin of this browser, with its history and actions. */
export function PinPanel() {
  const state = pinState.value;
  const pinned = state.kind === 'unknown' ? undefined : keptPin();
  const [asking, setAsking] = useState<'reset' | 'import' | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    const found = await checkLog();
    setBusy(false);
    if (found.kind === 'verified') say(`Pinned at size ${found.pin.head.size}`);
    else if (found.kind === 'unreachable') sayFailure('Check failed', found.fault.message);
  };
  return (
    <section class="panel stack wide-facts">
      <div class="row spread">
        <h2>Pinned tree head</h2>
        <span class="row">
          <Button kind="primary" busy={busy} onClick={() => void check()}>
            Check and pin now
          </Button>
          {pinned !== undefined && !(pinned instanceof AuditFault) && (
            <Button onClick={() => saveText(pinFileName, writePin(pinned))}>Export</Button>
          )}
          <Button onClick={() => setAsking('import')}>Import…</Button>
          <Button kind="danger" onClick={() => setAsking('reset')}>
            Reset pin…
          </Button>
        </span>
      </div>
      <p class="quiet">
        The last tree head that this browser verified. It is stored across sessions and users, and every 15 seconds the
        browser checks that the log extends it.
      </p>
      {pinned === undefined ? (
        <p>Nothing pinned yet.</p>
      ) : pinned instanceof AuditFault ? (
        <FaultText fault={pinned} />
      ) : (
        <>
          <PinFacts pin={pinned} />
          {state.kind === 'verified' && state.newKey !== undefined && (
            <p>
              {state.newKey === 'vouched'
                ? 'The signing key changed since the previous head; the log proves the rotation.'
                : 'The signing key changed since the previous head; the new key was accepted by its fingerprint.'}
            </p>
          )}
          <p class="quiet">Audit the log against the exported pin from any machine:</p>
          <Command text={`npx candor audit ${location.origin} --state ${pinFileName}`} />
        </>
      )}
      <History />
      {asking === 'reset' && <ResetDialog onClose={() => setAsking(undefined)} />}
      {asking === 'import' && <ImportDialog onClose={() => setAsking(undefined)} />}
    </section>
  );
}

function PinFacts({ pin }: { pin: Pin }) {
  const key = pin.keys.get(pin.head.signerKeyId);
  return (
    <Facts
      facts={[
        ['Size', number(pin.head.size)],
        ['Root', <Hash key="r" value={pin.head.root} what="Root" length={16} />],
        ['Signed at', <Moment key="m" ns={pin.head.timestampNs} />],
        ['Key', key && <Hash key="k" value={fingerprint(key)} what="Fingerprint" length={16} />],
        ['First pinned', <Time key="p" at={pin.pinnedAt} as="exact" />],
        ['Last updated', <Time key="u" at={pin.updatedAt} as="exact" />],
        ['Log', <bdi key="l">{pin.log}</bdi>],
        ['Known keys', number(pin.keys.size)],
      ]}
    />
  );
}

function History() {
  const history = pinHistory.value;
  const newest = history[0];
  if (newest === undefined) return null;
  return (
    <>
      <h3>Pin history ({number(history.length)})</h3>
      <ol class="pin-history" tabIndex={0} aria-label="Pin history">
        {history.map(({ size, root, at }) => (
          <li key={`${size} ${at}`}>
            <span class="mono pin-size">{number(size)}</span>
            <Hash value={root} what="Root" />
            <Time at={at} as="exact" />
            {size < newest.size && (
              <a href={href('transparency', { view: 'consistency', first: size, second: newest.size })}>
                compare with {number(newest.size)}
              </a>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

function ResetDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Reset pin" onClose={onClose}>
      <p>
        This browser will discard the pinned head and trust whatever the log serves now. If the log was rolled back or
        changed, the reset will hide this.
      </p>
      <p>
        Reset only if you know why the pin no longer matches: this URL now belongs to another log, or the operator
        announced a restored backup. Export the pin first.
      </p>
      <div class="row">
        <Button
          kind="danger"
          onClick={() => {
            onClose();
            void replacePin().then((state) =>
              state.kind === 'verified'
                ? say(`Pin reset at size ${state.pin.head.size}`)
                : sayFailure('Not pinned', 'fault' in state ? state.fault.message : state.kind),
            );
          }}
        >
          Discard pin and trust the current log
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<AuditFault | undefined>(undefined);
  const take = async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) return;
    if (file.size > maxFileBytes) {
      setFault(new AuditFault('MALFORMED_PIN', `the file is ${file.size} bytes; the maximum is ${maxFileBytes}`));
      return;
    }
    const found = await importPin(await file.text());
    if (found instanceof AuditFault) setFault(found);
    else {
      if (found.kind === 'verified') say(`The log extends the imported pin to size ${found.pin.head.size}`);
      onClose();
    }
  };
  return (
    <Dialog title="Import pin" onClose={onClose}>
      <p>
        Choose a pin exported by another browser or written by <code>candor audit</code>. It will replace this browser’s
        pin, and the log will be checked against it immediately. If the log contradicts the pin, the evidence will be
        shown.
      </p>
      <input ref={input} type="file" accept=".json,application/json" aria-label="Pin file" />
      {fault !== undefined && <FaultText fault={fault} />}
      <div class="row">
        <Button kind="primary" onClick={() => void take()}>
          Import and check
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
