import { useState } from 'preact/hooks';
import {
  AuditFault,
  anchored,
  type Bundle,
  judge,
  type KeySet,
  parseBundle,
  parseEventProof,
  parseEvidence,
  parseKeySet,
  parsePin,
  verifyBundle,
  verifyCheckpoint,
  verifySealedEvent,
} from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { keptPin } from '../../state/pin.ts';
import { Choice } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { Raw } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { BundleProofsShown } from './bundle-proofs-shown.tsx';
import { Check } from './check.tsx';
import { kindOf } from './file-kind.ts';
import { KeyFacts } from './key-facts.tsx';
import { ProofShown } from './proof-shown.tsx';
import { Refused } from './verdict.tsx';

/** Shows a file and whether it verifies. */
export function FileShown({ text }: { text: string }) {
  switch (kindOf(text)) {
    case 'bundle':
      return <BundleShown text={text} />;
    case 'event':
      return <EventShown text={text} />;
    case 'evidence':
      return <EvidenceShown text={text} />;
    case 'checkpoint':
      return <CheckpointShown text={text} />;
    case 'pin':
      return <PinShown text={text} />;
    case 'keys':
      return <KeysShown text={text} />;
    case 'archive':
      return (
        <Empty title="Log archive">
          <p>Archives can contain millions of entries. Verify them on the command line:</p>
          <Command text="npx candor verify archive.ndjson" />
        </Empty>
      );
  }
}

type KeysOf = 'pin' | 'file';

function BundleShown({ text }: { text: string }) {
  const [bundle] = useState<Bundle | AuditFault>(() => parseBundle(text));
  const pinned = pinnedKeys();
  const [chosen, choose] = useState<KeysOf>(pinned === undefined ? 'file' : 'pin');
  if (bundle instanceof AuditFault) return <Refused fault={bundle} />;
  const fromPin = chosen === 'pin' && pinned !== undefined;
  return (
    <>
      <div class="row">
        {pinned !== undefined && (
          <Choice<KeysOf>
            label="Trusted keys"
            options={[
              { value: 'pin', title: 'Keys pinned by this browser' },
              { value: 'file', title: 'Keys in the file' },
            ]}
            value={chosen}
            onChange={choose}
          />
        )}
        <span class="quiet">
          {fromPin
            ? 'Only signatures by keys pinned in this browser are accepted.'
            : 'The keys come from the file itself: compare the fingerprints below with those of the expected log.'}
        </span>
      </div>
      <ProofShown
        proof={{ ...bundle, leafIndex: bundle.leaf.leafIndex, leaf: { canonical: bundle.leaf.canonical } }}
        keys={fromPin ? anchored(bundle.keys, pinned) : bundle.keys}
        {...(!fromPin && { soundTitle: 'Verified with the keys in the file' })}
        keysFrom={
          fromPin
            ? `Verified with the ${counted(pinned.size, 'key')} pinned by this browser; the keys in the file were not used.`
            : `Verified with the ${counted(bundle.keys.size, 'key')} in the file: compare the fingerprints with trusted ones.`
        }
      />
      <BundleProofsShown text={text} bundle={bundle} keys={fromPin ? pinned : bundle.keys} />
    </>
  );
}

/** An event, and the log entry that covers it. */
function EventShown({ text }: { text: string }) {
  const file = parseEventProof(text);
  if (file instanceof AuditFault) return <Refused fault={file} />;
  const bundle = parseBundle(file.bundle);
  const entry = bundle instanceof AuditFault ? bundle : verifyBundle(bundle);
  const sealed = entry instanceof AuditFault ? entry : verifySealedEvent(file, entry);
  if (sealed instanceof AuditFault) return <Refused fault={sealed} />;
  return (
    <>
      <section class="panel stack">
        <ul class="checks">
          <Check state="good" title={`The entry below covers ${sealed.table} event ${sealed.id} with these values`}>
            {sealed.derived.length > 0 && `Derived by the service, not covered: ${sealed.derived.join(', ')}. `}
            The file also discloses {counted(sealed.neighbours, 'neighbouring event')}.
          </Check>
        </ul>
        <Raw of={file.event} />
      </section>
      <BundleShown text={file.bundle} />
    </>
  );
}

function pinnedKeys(): KeySet | undefined {
  const pin = keptPin();
  return pin === undefined || pin instanceof AuditFault ? undefined : pin.keys;
}

function EvidenceShown({ text }: { text: string }) {
  const evidence = parseEvidence(text);
  if (evidence instanceof AuditFault) return <Refused fault={evidence} />;
  const pinned = pinnedKeys();
  const verdict = judge(evidence, pinned);
  return (
    <section class="panel stack">
      <ul class="checks">
        <Check
          state={verdict.convicts ? 'bad' : 'open'}
          title={
            verdict.convicts ? 'Conclusive evidence against the holder of these keys' : 'Not conclusive on its own'
          }
        >
          <bdi>{verdict.reason}</bdi>
        </Check>
      </ul>
      <p>
        Found: <bdi class="mono">{evidence.code}</bdi>, <bdi>{evidence.message}</bdi>
      </p>
      <p>
        Log <bdi class="mono">{evidence.log}</bdi>, found at <bdi>{evidence.foundAt}</bdi>
      </p>
      <p class="quiet">
        {pinned === undefined
          ? 'Verified with the auditor’s pinned keys from the file: conclusive only if these are the log’s keys.'
          : 'Verified with the keys pinned by this browser.'}
      </p>
      {verdict.signers.map((key) => (
        <KeyFacts key={key.kid} of={key} />
      ))}
    </section>
  );
}

function CheckpointShown({ text }: { text: string }) {
  const pinned = pinnedKeys();
  if (pinned === undefined)
    return <Empty title="Cannot verify: a checkpoint contains no keys, and this browser has no pinned keys" />;
  const checkpoint = verifyCheckpoint(text, pinned);
  if (checkpoint instanceof AuditFault) return <Refused fault={checkpoint} />;
  return (
    <section class="panel stack">
      <ul class="checks">
        <Check
          state="good"
          title={`Checkpoint at ${counted(checkpoint.size, 'entry', 'entries')}, signed by a pinned key`}
        >
          <bdi>{checkpoint.origin}</bdi>, root <Hash value={checkpoint.root} what="Root" whole />
        </Check>
      </ul>
      <KeyFacts of={checkpoint.key} />
    </section>
  );
}

function PinShown({ text }: { text: string }) {
  const pin = parsePin(text);
  if (pin instanceof AuditFault) return <Refused fault={pin} />;
  return (
    <section class="panel stack">
      <ul class="checks">
        <Check
          state="good"
          title={`Pin at ${counted(pin.head.size, 'entry', 'entries')}, its head signed by the keys in the pin`}
        >
          <bdi>{pin.log}</bdi>, last updated <Time at={pin.updatedAt} as="exact" />
        </Check>
      </ul>
      <p>
        To check the log against this pin, import the pin under{' '}
        <a href={href('transparency', { view: 'consistency' })}>Consistency</a>.
      </p>
    </section>
  );
}

function KeysShown({ text }: { text: string }) {
  const keys = parseKeySet(text);
  if (keys instanceof AuditFault) return <Refused fault={keys} />;
  return (
    <section class="panel stack">
      <p>Key set with {counted(keys.size, 'key')}. It is not signed: compare the fingerprints.</p>
      {[...keys.values()].slice(0, 50).map((key) => (
        <KeyFacts key={key.kid} of={key} keys={keys} />
      ))}
    </section>
  );
}
