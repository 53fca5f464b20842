import { useState } from 'preact/hooks';
import { decodeNote } from '../../../client/latest.ts';
import { AuditFault, faultCodes } from '../../../client/verifier.ts';
import { Button } from '../../ui/button.tsx';
import { bytes } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { maxFileBytes } from './file-kind.ts';
import { FileShown } from './file-shown.tsx';
import { Refused } from './verdict.tsx';
import './verify-view.css';

interface Input {
  readonly name: string;
  readonly text: string;
}

/** Verifies a file that the user opens. The file is not sent anywhere and not trusted. */
export function VerifyView() {
  const [input, setInput] = useState<Input | AuditFault | undefined>(undefined);
  const [dropping, setDropping] = useState(false);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > maxFileBytes) {
      setInput(tooLarge(file.size));
      return;
    }
    const text = decodeNote(new Uint8Array(await file.arrayBuffer()));
    setInput(
      text instanceof AuditFault
        ? new AuditFault('MALFORMED_BUNDLE', 'the file is not valid UTF-8')
        : { name: file.name, text },
    );
  };
  return (
    <div class="stack">
      <section
        class={dropping ? 'panel stack verify-drop verify-dropping' : 'panel stack verify-drop'}
        aria-label="File or text to verify"
        onDragOver={(event) => {
          event.preventDefault();
          setDropping(true);
        }}
        onDragLeave={() => setDropping(false)}
        onDrop={(event) => {
          event.preventDefault();
          setDropping(false);
          void take(event.dataTransfer?.files[0]);
        }}
      >
        {input === undefined || input instanceof AuditFault ? (
          <>
            <p>
              Drop, choose or paste a file: an entry proof, an auditor’s evidence, or a checkpoint. It is verified in
              this browser and not uploaded.
            </p>
            <input
              type="file"
              aria-label="File to verify"
              onChange={(event) => void take(event.currentTarget.files?.[0])}
            />
            <textarea
              class="input mono verify-text"
              aria-label="Text to verify"
              placeholder='{"leaf_index":…,"canonical":"…","audit_path":[…],"head":{…},"keys":[…]}'
              spellcheck={false}
              onInput={({ currentTarget: { value } }) => {
                if (value.length > maxFileBytes) setInput(tooLarge(value.length));
                else if (value.trim() !== '') setInput({ name: 'Pasted text', text: value });
              }}
            />
          </>
        ) : (
          <div class="row spread">
            <p class="clip">
              <bdi>{input.name}</bdi> <span class="quiet">{bytes(new Blob([input.text]).size)}</span>
            </p>
            <Button onClick={() => setInput(undefined)}>Verify another file</Button>
          </div>
        )}
      </section>
      {input instanceof AuditFault ? (
        <Refused fault={input} />
      ) : input === undefined ? (
        <Empty title="No file selected">The Proof view lets you download the proof of each entry.</Empty>
      ) : (
        <FileShown key={input.text} text={input.text} />
      )}
      <Reasons />
    </div>
  );
}

const tooLarge = (size: number): AuditFault =>
  new AuditFault('MALFORMED_BUNDLE', `the file is ${size} bytes; the maximum is ${maxFileBytes}`);

const kinds = {
  refused: 'Rejected: cannot be verified, but may be an honest mistake',
  misbehaviour: 'Misbehaviour: the log contradicts an earlier signed statement',
  unavailable: 'Unavailable: no result, try again',
} as const;

/** All error codes of the verifier. */
function Reasons() {
  return (
    <details class="panel">
      <summary>All verification errors ({Object.keys(faultCodes).length})</summary>
      {Object.entries(kinds).map(([kind, title]) => (
        <section key={kind} class="section">
          <h3>{title}</h3>
          <dl class="reasons">
            {Object.entries(faultCodes)
              .filter(([, { kind: one }]) => one === kind)
              .map(([code, { means }]) => (
                <div key={code}>
                  <dt class="mono">{code}</dt>
                  <dd>{means}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </details>
  );
}
