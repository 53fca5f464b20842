import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { rotatedPurposes } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { SelectField, TextArea } from '../../../ui/field.tsx';
import { say } from '../../../ui/toasts.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useSending } from '../parts/sending.ts';
import { purposes, revocationOf } from './purposes.ts';

export type KeyRow = ListItem<'listKeys'>;
type Rotated = (typeof rotatedPurposes)[number];

/** Dialog to rotate a signing key. */
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
          say(`Key rotated: ${purposes[purpose].title.toLowerCase()}.`);
          setParams({ id: data.id });
          onClose();
        })
      }
      onClose={onClose}
    >
      <SelectField
        label="Purpose"
        hint={purposes[purpose].signs}
        error={sending.at('purpose')}
        autofocus
        options={rotatedPurposes.map((value) => ({
          value,
          title: `${purposes[value].title} (${value})`,
        }))}
        value={purpose}
        onChange={setPurpose}
      />
      <p>
        A new key takes over immediately. The old key stops signing; its existing signatures stay valid.{' '}
        {purposes[purpose].rotated}
      </p>
      <p class="quiet">
        By default, keys also rotate automatically. The checkpoint key is replaced only when it is revoked.
      </p>
    </FormDialog>
  );
}

/** Dialog to retire a pending key. */
export function RetireKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  return (
    <Confirm
      title="Retire this pending key?"
      action="Retire key"
      danger
      logged={['key.retired']}
      run={() => change('retireKey', { params: { key_id: key.id } }, ['listKeys'])}
      done="Key retired."
      onClose={onClose}
    >
      <p>The key was published as the next key but has not signed anything. The active key will stay in use.</p>
    </Confirm>
  );
}

/** Dialog to revoke a compromised key. */
export function RevokeKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const sending = useSending(['reason']);
  return (
    <FormDialog
      title="Revoke this key?"
      action="Revoke permanently"
      danger
      disabled={reason.trim() === ''}
      logged={['key.revoked']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await change('revokeKey', { params: { key_id: key.id }, body: { reason: reason.trim() } }, ['listKeys']);
          say('Key revoked.');
          onClose();
        })
      }
      onClose={onClose}
    >
      <p>Use this if the key may be compromised. Revocation cannot be undone. {revocationOf(key.attributes)}</p>
      <p class="quiet">To replace a key that is not compromised, rotate it instead.</p>
      <TextArea
        label="Reason"
        hint="The reason is public, like all log entries about keys."
        error={sending.at('reason')}
        autofocus
        rows={2}
        maxLength={1000}
        value={reason}
        onValue={setReason}
      />
    </FormDialog>
  );
}
