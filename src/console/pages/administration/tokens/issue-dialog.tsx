import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change, useAnswer } from '../../../state/answers.ts';
import { now } from '../../../state/clock.ts';
import { me } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { SelectField, TextField } from '../../../ui/form.tsx';
import { exact } from '../../../ui/format.ts';
import { useForm } from '../../../ui/sending.ts';
import { isolateText } from '../../../ui/words.ts';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { expiryOf, type Life, lives } from './expiry.ts';
import { type Secret, SecretDialog } from './secret-dialog.tsx';

/** Maximum number of principals offered. For other principals, issue the token from the principal's detail. */
const offeredPrincipals = 200;

/** Dialog to issue a token for a machine. It shows the secret once, after the token is issued. */
export function IssueToken({
  principal,
  onClose,
}: {
  /** Owner of the token. If absent, the user selects the owner. */
  principal?: ListItem<'listPrincipals'>;
  onClose: () => void;
}) {
  const form = useForm<{ name: string; principal_id: string; scopes: readonly Role[]; expires_at: Life }>({
    name: '',
    principal_id: principal?.id ?? me.value?.id ?? '',
    scopes: [],
    expires_at: '90',
  });
  const { principal_id, scopes, expires_at: life } = form.values;
  const name = form.values.name.trim();
  const [secret, setSecret] = useState<Secret | undefined>();
  const all = useAnswer(
    'listPrincipals',
    { query: { per_page: offeredPrincipals, sort: 'name', status: 'active' } },
    { enabled: principal === undefined, still: true },
  );
  const principals = principal === undefined ? (all.data?.data ?? []) : [principal];
  const owner = principals.find(({ id }) => id === principal_id)?.attributes;
  const held = owner?.roles ?? [];
  const expires = expiryOf(life, now.value);
  if (secret !== undefined) return <SecretDialog secret={secret} onClose={onClose} />;
  return (
    <ActionDialog
      title={principal === undefined ? 'Issue token' : `Issue token for ${isolateText(principal.attributes.name)}`}
      action="Issue token"
      disabled={name === '' || scopes.length === 0}
      logged={['token.issued']}
      sending={form}
      run={async () => {
        const expires_at = expiryOf(life, Date.now());
        const body = { name, scopes: [...scopes], principal_id, ...(expires_at !== undefined && { expires_at }) };
        const { data } = await change('issueToken', { body }, ['listTokens']);
        setSecret({ token: data.attributes.token, name, jti: data.id, owner: owner?.name ?? '' });
      }}
      // The secret is shown next.
      onDone={() => {}}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The machine or program that will use the token."
        autofocus
        autocomplete="off"
        maxLength={200}
        {...form.field('name')}
      />
      {principal === undefined && (
        <SelectField
          label="Owner"
          hint={all.error === null ? 'The token cannot do more than its owner.' : undefined}
          options={principals.map(({ id, attributes: { name: own, roles } }) => ({
            value: id,
            title: `${own} (${roles.join(', ') || 'no role'})`,
          }))}
          value={principal_id}
          error={form.at('principal_id') ?? all.error?.message}
          onValue={(id) => form.set({ principal_id: id, scopes: [] })}
        />
      )}
      <RoleBoxes
        legend="Roles"
        // Tokens of administrators may carry any role.
        {...(!held.includes('admin') && { offered: held })}
        {...form.field('scopes')}
      />
      <SelectField
        label="Expires"
        hint={
          expires === undefined
            ? 'Valid until revoked. There will be no reminder.'
            : `Until ${exact(Date.parse(expires))}.`
        }
        options={lives}
        {...form.field('expires_at')}
      />
    </ActionDialog>
  );
}
