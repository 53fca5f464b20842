import type { ListItem } from '../../../../client/client.ts';
import { rotatedPurposes } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { SelectField, TextArea } from '../../../ui/form.tsx';
import { useForm } from '../../../ui/sending.ts';
import { purposes, revocationOf } from './purposes.ts';

export type KeyRow = ListItem<'listKeys'>;
type Rotated = (typeof rotatedPurposes)[number];

/** Dialog to rotate a signing key. */
export function RotateKey({ purpose: first, onClose }: { purpose?: Rotated; onClose: () => void }) {
  const form = useForm<{ purpose: Rotated }>({ purpose: first ?? 'transparency-sth' });
  const { purpose } = form.values;
  return (
    <ActionDialog
      title="Rotate a key"
      action="Rotate"
      logged={['key.rotated', 'key.retired']}
      sending={form}
      run={async () => {
        const { data } = await change('rotateKey', { body: { purpose } }, ['listKeys']);
        setParams({ id: data.id });
      }}
      done={`Key rotated: ${purposes[purpose].title.toLowerCase()}.`}
      onClose={onClose}
    >
      <SelectField
        label="Purpose"
        hint={purposes[purpose].signs}
        autofocus
        options={rotatedPurposes.map((value) => ({ value, title: `${purposes[value].title} (${value})` }))}
        {...form.field('purpose')}
      />
      <p>
        A new key takes over immediately. The old key stops signing; its existing signatures stay valid.{' '}
        {purposes[purpose].rotated}
      </p>
      <p class="quiet">
        By default, keys also rotate automatically. The checkpoint key is replaced only when it is revoked.
      </p>
    </ActionDialog>
  );
}

/** Dialog to retire a pending key. */
export function RetireKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  return (
    <ActionDialog
      title="Retire this pending key?"
      action="Retire key"
      danger
      logged={['key.retired']}
      run={() => change('retireKey', { params: { key_id: key.id } }, ['listKeys'])}
      done="Key retired."
      onClose={onClose}
    >
      <p>The key was published as the next key but has not signed anything. The active key will stay in use.</p>
    </ActionDialog>
  );
}

/** Dialog to revoke a compromised key. */
export function RevokeKey({ of: key, onClose }: { of: KeyRow; onClose: () => void }) {
  const form = useForm({ reason: '' });
  const reason = form.values.reason.trim();
  return (
    <ActionDialog
      title="Revoke this key?"
      action="Revoke permanently"
      danger
      disabled={reason === ''}
      logged={['key.revoked']}
      sending={form}
      run={() => change('revokeKey', { params: { key_id: key.id }, body: { reason } }, ['listKeys'])}
      done="Key revoked."
      onClose={onClose}
    >
      <p>Use this if the key may be compromised. Revocation cannot be undone. {revocationOf(key.attributes)}</p>
      <p class="quiet">To replace a key that is not compromised, rotate it instead.</p>
      <TextArea
        label="Reason"
        hint="The reason is public, like all log entries about keys."
        autofocus
        rows={2}
        maxLength={1000}
        {...form.field('reason')}
      />
    </ActionDialog>
  );
}
