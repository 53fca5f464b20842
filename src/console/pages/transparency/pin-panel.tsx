import { useRef, useState } from 'preact/hooks';
import { Fault, fingerprint, type Pin, writePin } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { checkLog, importPin, keptPin, pinAnew, pinHistory, pinState } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { number } from '../../ui/format.ts';
import { Hash } from '../../ui/hash.tsx';
import { Facts } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { FaultText } from './check.tsx';
import { Moment } from './moment.tsx';
import './pin-panel.css';

const fileName = 'candor.pin.json';
/** A pin with the keys of a hundred years has 10 MB. */
const maxFileBytes = 32 * 2 ** 20;

/** The pin of this browser: what it is, how it came, and what can be done with it. */
export function PinPanel() {
  const state = pinState.value;
  const kept = state.kind === 'unknown' ? undefined : keptPin();
  const [asking, setAsking] = useState<'anew' | 'import' | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    const found = await checkLog();
    setBusy(false);
    if (found.kind === 'verified') say(`Pinned at size ${found.pin.head.size}`);
    else if (found.kind === 'unreachable') sayFailure('Not checked', found.fault.message);
  };
  return (
    <section class="panel stack wide-facts">
      <div class="row spread">
        <h2>The pin of this browser</h2>
        <span class="row">
          <Button kind="primary" busy={busy} onClick={() => void check()}>
            Check and pin now
          </Button>
          {kept !== undefined && !(kept instanceof Fault) && (
            <Button onClick={() => saveText(fileName, writePin(kept))}>Export</Button>
          )}
          <Button onClick={() => setAsking('import')}>Import …</Button>
          <Button kind="danger" onClick={() => setAsking('anew')}>
            Pin anew …
          </Button>
        </span>
      </div>
      <p class="quiet">
        The tree head that this browser verified last. It checks by itself every 15 seconds that the log
        extends it, and keeps it from visit to visit, whoever is signed in.
      </p>
      {kept === undefined ? (
        <p>None yet.</p>
      ) : kept instanceof Fault ? (
        <FaultText fault={kept} />
      ) : (
        <>
          <PinFacts pin={kept} />
          {state.kind === 'verified' && state.newKey !== undefined && (
            <p>
              {state.newKey === 'vouched'
                ? 'Another key signs now than signed the head before; the log proves that it took over.'
                : 'Another key signs now than signed the head before: it was accepted by its fingerprint.'}
            </p>
          )}
          <p class="quiet">Exported, it is held to the log from anywhere, without this page:</p>
          <Command text={`npx candor audit ${location.origin} --state ${fileName}`} />
        </>
      )}
      <History />
      {asking === 'anew' && <AnewDialog onClose={() => setAsking(undefined)} />}
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
        ['Last moved', <Time key="u" at={pin.updatedAt} as="exact" />],
        ['Log', <bdi key="l">{pin.log}</bdi>],
        ['Keys known', number(pin.keys.size)],
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
      <h3>Heads that it pinned ({number(history.length)})</h3>
      <ol class="pin-history" tabIndex={0} aria-label="Heads that this browser pinned">
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

function AnewDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Pin anew" onClose={onClose}>
      <p>
        This browser forgets the head that it holds the log to, and trusts whatever the log shows now. If the
        log was rolled back or changed, this is how it would go unnoticed.
      </p>
      <p>
        Do it only when you know why the pin no longer fits: the address was taken over by another log, or a
        backup was restored and its operator told you so. Export the pin first.
      </p>
      <div class="row">
        <Button
          kind="danger"
          onClick={() => {
            onClose();
            void pinAnew().then((state) =>
              state.kind === 'verified'
                ? say(`Pinned anew at size ${state.pin.head.size}`)
                : sayFailure('Not pinned', 'fault' in state ? state.fault.message : state.kind),
            );
          }}
        >
          Forget the pin and trust what is there now
        </Button>
        <Button onClick={onClose}>Keep the pin</Button>
      </div>
    </Dialog>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<Fault | undefined>(undefined);
  const take = async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) return;
    if (file.size > maxFileBytes) {
      setFault(new Fault('MALFORMED_PIN', `the file has ${file.size} bytes, ${maxFileBytes} are allowed`));
      return;
    }
    const found = await importPin(await file.text());
    if (found instanceof Fault) setFault(found);
    else {
      if (found.kind === 'verified') say(`The log extends the imported pin, to size ${found.pin.head.size}`);
      onClose();
    }
  };
  return (
    <Dialog title="Import a pin" onClose={onClose}>
      <p>
        A pin that another browser exported, or that <code>candor audit</code> keeps. The log is held to it at
        once, and it takes the place of this browser's pin. If the log contradicts it, you get the evidence.
      </p>
      <input ref={input} type="file" accept=".json,application/json" aria-label="File with a pin" />
      {fault !== undefined && <FaultText fault={fault} />}
      <div class="row">
        <Button kind="primary" onClick={() => void take()}>
          Hold the log to it
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
