import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { rotatedPurposes } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { say } from '../../../ui/toasts.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useSending } from '../parts/sending.ts';
import { purposes, revocationOf } from './purposes.ts';

export type KeyRow = ListItem<'listKeys'>;
type Rotated = (typeof rotatedPurposes)[number];

/** A new key takes over. */
export function RotateKey({ purpose: first, onClose }: { purpose?: Rotated; onClose: () => void }) {
  const [purpose, setPurpose] = useState<Rotated>(first ?? 'transparency-sth');
  const sending = useSending(['purpose']);
  return (
    <FormDialog
      title="Rotate a key"
      action="Rotate"
      logged={['key.rotated', 'key.retired']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          const { data } = await change('rotateKey', { body: { purpose } }, ['listKeys']);
          say(`A new key signs: ${purposes[purpose].title.toLowerCase()}.`);
          setParams({ id: data.id });
          onClose();
        })
      }
      onClose={onClose}
    >
      <Field label="What it signs" hint={purposes[purpose].signs} error={sending.at('purpose')}>
        {(attributes) => (
          <Select
            {...attributes}
            autofocus
            options={rotatedPurposes.map((value) => ({
              value,
              title: `${purposes[value].title} (${value})`,
            }))}
            value={purpose}
            onChange={setPurpose}
          />
        )}
      </Field>
      <p>
        A new key is made and takes over at once; the old one signs no more, and is still good for what it
        signed. {purposes[purpose].rotated}
      </p>
      <p class="quiet">
        Keys rotate by themselves, too. The key for checkpoints stays the same: it is replaced when it is
        revoked.
      </p>
    </FormDialog>
  );
}

/** A key that was to take over is given up. */
export function RetireKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  return (
    <Confirm
      title="Give up this pending key?"
      action="Give it up"
      danger
      logged={['key.retired']}
      run={() => change('retireKey', { params: { key_id: key.id } }, ['listKeys'])}
      done="The key was given up."
      onClose={onClose}
    >
      <p>It was published to take over and never will. It signed nothing. The key in use goes on.</p>
    </Confirm>
  );
}

/** A key that somebody else may have. */
export function RevokeKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const sending = useSending(['reason']);
  return (
    <FormDialog
      title="Revoke this key?"
      action="Revoke for good"
      danger
      disabled={reason.trim() === ''}
      logged={['key.revoked']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await change('revokeKey', { params: { key_id: key.id }, body: { reason: reason.trim() } }, [
            'listKeys',
          ]);
          say('The key is revoked.');
          onClose();
        })
      }
      onClose={onClose}
    >
      <p>For a key that somebody else may have. It cannot be taken back. {revocationOf(key.attributes)}</p>
      <p class="quiet">To change a key that is in nobody else’s hands, rotate it.</p>
      <Field
        label="Why"
        hint="Everybody may read it: entries about keys are public."
        error={sending.at('reason')}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            autofocus
            rows={2}
            maxLength={1000}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
