import { useRef } from 'preact/hooks';
import { NotFound } from '../../../client/log-source.ts';
import { AuditFault, type KeySet } from '../../../client/verifier.ts';
import { href, place, setParams } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { keptPin, pinState } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { signedIn } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { number } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { BundleProofsShown } from './bundle-proofs-shown.tsx';
import { FaultText } from './check.tsx';
import { askedOf, findProof, type HiddenProof, type Proof } from './find-proof.ts';
import { useChecked } from './log.ts';
import { ProofShown } from './proof-shown.tsx';
import './proof-view.css';

/** The proof of the entry in the URL, or of the newest entry if the URL has no entry. */
export function ProofView() {
  const { params } = place.value;
  const state = pinState.value;
  const size = 'pin' in state ? state.pin?.head.size : undefined;
  const [index, id] = [params.get('index'), params.get('id')];
  // Without an entry in the URL, shows the newest entry, and keeps this entry while the log grows.
  const newest = useRef<number | undefined>(undefined);
  if (size !== undefined) newest.current ??= size - 1;
  const asked =
    index === null && id === null
      ? newest.current === undefined
        ? undefined
        : { index: newest.current }
      : askedOf(index, id);
  const found = useChecked<Proof | HiddenProof>(['proof', asked, signedIn.value], () => findProof(asked!), {
    enabled: asked !== undefined,
    keep: true,
  });
  if (asked === undefined && index === null && id === null)
    return state.kind === 'empty' ? (
      <Empty title="The log is empty">No critical event has been logged yet.</Empty>
    ) : (
      <Loading />
    );
  const { value } = found;
  const at =
    value === undefined || value instanceof AuditFault
      ? asked !== undefined && 'index' in asked
        ? asked.index
        : undefined
      : value.kind === 'entry'
        ? value.bundle.leaf.leafIndex
        : value.leafIndex;
  return (
    <div class="stack">
      <Picker at={at} size={size} />
      {asked === undefined ? (
        <Empty title="Not a valid entry">
          Enter an entry’s index, its ID, the ID of its alert, or its leaf hash (64 hexadecimal digits).
        </Empty>
      ) : value === undefined ? (
        <Loading rows={12} />
      ) : value instanceof AuditFault ? (
        <ProofFailure fault={value} onRetry={found.again} />
      ) : (
        <Shown proof={value} />
      )}
    </div>
  );
}

function Shown({ proof }: { proof: Proof | HiddenProof }) {
  const pin = keptPin();
  const pinned = pin === undefined || pin instanceof AuditFault ? undefined : pin.keys;
  if (proof.kind === 'hidden')
    return (
      <ProofShown
        proof={{ ...proof, leaf: { hash: proof.leafHash } }}
        keys={proof.keys}
        keysFrom={trustIn(pinned, proof.head.signerKeyId, proof.keys)}
      />
    );
  const { bundle, text } = proof;
  const name = `candor-entry-${bundle.leaf.leafIndex}.json`;
  return (
    <>
      <ProofShown
        proof={{ ...bundle, leafIndex: bundle.leaf.leafIndex, leaf: { canonical: bundle.leaf.canonical } }}
        keys={bundle.keys}
        keysFrom={trustIn(pinned, bundle.head.signerKeyId, bundle.keys)}
        actions={<Button onClick={() => saveText(name, text)}>Download proof</Button>}
      />
      <BundleProofsShown text={text} bundle={bundle} keys={bundle.keys} />
      <section class="panel stack">
        <h2>Verify without this page</h2>
        <p class="quiet">The downloaded proof is self-contained. Verification works offline:</p>
        <Command text={`npx candor verify ${name}`} />
        <p class="quiet">To trust the keys of an auditor’s pin instead of those in the file:</p>
        <Command text={`npx candor verify ${name} --pin candor.pin.json`} />
      </section>
    </>
  );
}

/** Describes the source of trust in the keys. */
function trustIn(pinned: KeySet | undefined, signer: string, keys: KeySet): string {
  const known = pinned?.get(signer);
  return known !== undefined && known.x === keys.get(signer)?.x
    ? 'Verified with the log’s published keys; the key that signed the head is pinned by this browser.'
    : 'Verified with the log’s published keys: compare the fingerprint with the service’s startup output.';
}

function ProofFailure({ fault, onRetry }: { fault: AuditFault; onRetry: () => void }) {
  return (
    <div class="state" role="alert">
      <p class="state-title">
        {fault instanceof NotFound
          ? 'Entry not found'
          : fault.kind === 'unavailable'
            ? 'Cannot reach the log. Its data is not affected.'
            : 'No proof available'}
      </p>
      {fault instanceof NotFound ? (
        <p class="quiet">
          <bdi>{fault.message}</bdi>
        </p>
      ) : (
        <FaultText fault={fault} />
      )}
      <Button onClick={onRetry}>Retry</Button>
    </div>
  );
}

function Picker({ at, size }: { at: number | undefined; size: number | undefined }) {
  const show = (index: number) => setParams({ index, id: undefined });
  const last = size === undefined ? undefined : size - 1;
  const before = at !== undefined && at > 0 ? at - 1 : undefined;
  const after = at !== undefined && last !== undefined && at < last ? at + 1 : undefined;
  useKeys('Entries', {
    '[': { title: 'Previous entry', run: () => before !== undefined && show(before) },
    ']': { title: 'Next entry', run: () => after !== undefined && show(after) },
  });
  return (
    <div class="row spread">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const text = String(new FormData(event.currentTarget).get('entry') ?? '').trim();
          if (text === '') return;
          if (/^[0-9]{1,16}$/.test(text)) show(Number(text));
          else setParams({ id: text, index: undefined });
        }}
      >
        <input
          key={at}
          name="entry"
          class="input mono proof-entry"
          aria-label="Entry index, ID or leaf hash, or alert ID"
          placeholder="Index, ID or hash"
          autocomplete="off"
          spellcheck={false}
          defaultValue={at === undefined ? '' : String(at)}
        />
        <Button type="submit">Show proof</Button>
        {last !== undefined && <span class="quiet">entries 0 to {number(last)}</span>}
      </form>
      <span class="row">
        <Button kind="plain" hint="[" disabled={before === undefined} onClick={() => show(before!)}>
          Previous
        </Button>
        <Button kind="plain" hint="]" disabled={after === undefined} onClick={() => show(after!)}>
          Next
        </Button>
        {last !== undefined && (
          <a class="button button-plain" href={href('transparency', { view: 'proof', index: last })}>
            Newest
          </a>
        )}
      </span>
    </div>
  );
}
