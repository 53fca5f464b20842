import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change, useAnswer } from '../../../state/answers.ts';
import { now } from '../../../state/clock.ts';
import { me } from '../../../state/session.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { exact } from '../../../ui/format.ts';
import { isolateText } from '../../../ui/words.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { useSending } from '../parts/sending.ts';
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
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(principal?.id ?? me.value?.id ?? '');
  const [scopes, setScopes] = useState<Role[]>([]);
  const [life, setLife] = useState<Life>('90');
  const [secret, setSecret] = useState<Secret | undefined>();
  const sending = useSending(['name', 'principal_id', 'scopes', 'expires_at']);
  const all = useAnswer(
    'listPrincipals',
    { query: { per_page: offeredPrincipals, sort: 'name', status: 'active' } },
    { enabled: principal === undefined, still: true },
  );
  const principals = principal === undefined ? (all.data?.data ?? []) : [principal];
  const owner = principals.find(({ id }) => id === chosen)?.attributes;
  const held = owner?.roles ?? [];
  const expires = expiryOf(life, now.value);
  if (secret !== undefined) return <SecretDialog secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={principal === undefined ? 'Issue token' : `Issue token for ${isolateText(principal.attributes.name)}`}
      action="Issue token"
      disabled={name.trim() === '' || scopes.length === 0}
      logged={['token.issued']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          const expires_at = expiryOf(life, Date.now());
          const { data } = await change(
            'issueToken',
            {
              body: {
                name: name.trim(),
                scopes,
                principal_id: chosen,
                ...(expires_at !== undefined && { expires_at }),
              },
            },
            ['listTokens'],
          );
          setSecret({
            token: data.attributes.token,
            name: name.trim(),
            jti: data.id,
            owner: owner?.name ?? '',
          });
        })
      }
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The machine or program that will use the token."
        error={sending.at('name')}
        autofocus
        autocomplete="off"
        maxLength={200}
        value={name}
        onValue={setName}
      />
      {principal === undefined && (
        <SelectField
          label="Owner"
          hint={all.error === null ? 'The token cannot do more than its owner.' : undefined}
          error={sending.at('principal_id') ?? all.error?.message}
          options={principals.map(({ id, attributes: { name: own, roles } }) => ({
            value: id,
            title: `${own} (${roles.join(', ') || 'no role'})`,
          }))}
          value={chosen}
          onChange={(id) => {
            setChosen(id);
            setScopes([]);
          }}
        />
      )}
      <RoleBoxes
        legend="Roles"
        // Tokens of administrators may carry any role.
        {...(!held.includes('admin') && { offered: held })}
        value={scopes}
        error={sending.at('scopes')}
        onChange={setScopes}
      />
      <SelectField
        label="Expires"
        hint={
          expires === undefined
            ? 'Valid until revoked. There will be no reminder.'
            : `Until ${exact(Date.parse(expires))}.`
        }
        error={sending.at('expires_at')}
        options={lives}
        value={life}
        onChange={setLife}
      />
    </FormDialog>
  );
}
