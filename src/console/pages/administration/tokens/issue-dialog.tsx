import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change, useAnswer } from '../../../state/answers.ts';
import { now } from '../../../state/clock.ts';
import { me } from '../../../state/session.ts';
import { Field } from '../../../ui/field.tsx';
import { exact } from '../../../ui/format.ts';
import { Select } from '../../../ui/select.tsx';
import { foreign } from '../../../ui/words.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { useSending } from '../parts/sending.ts';
import { expiryOf, type Life, lives } from './expiry.ts';
import { type Secret, SecretDialog } from './secret-dialog.tsx';

/** As many as are offered to choose from; more are found by their own page. */
const offeredPrincipals = 200;

/** A token for a machine: whose, for what, with which roles, until when; then its secret, this once. */
export function IssueToken({
  principal,
  onClose,
}: {
  /** Whose it is to be; to be chosen where absent. */
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
      title={
        principal === undefined ? 'Issue a token' : `Issue a token for ${foreign(principal.attributes.name)}`
      }
      action="Issue the token"
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
      <Field
        label="What it is for"
        hint="The machine or program that will have it."
        error={sending.at('name')}
      >
        {(attributes) => (
          <input
            {...attributes}
            autofocus
            autocomplete="off"
            maxLength={200}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      {principal === undefined && (
        <Field
          label="Whose it is"
          hint={all.error === null ? 'It can do no more than its principal.' : undefined}
          error={sending.at('principal_id') ?? all.error?.message}
        >
          {(attributes) => (
            <Select
              {...attributes}
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
        </Field>
      )}
      <RoleBoxes
        legend="Roles that it carries"
        // What an administrator may do, a token of theirs may be given in part.
        {...(!held.includes('admin') && { offered: held })}
        value={scopes}
        error={sending.at('scopes')}
        onChange={setScopes}
      />
      <Field
        label="How long it is good"
        hint={
          expires === undefined ? 'Nobody will be reminded of it.' : `Until ${exact(Date.parse(expires))}.`
        }
        error={sending.at('expires_at')}
      >
        {(attributes) => <Select {...attributes} options={lives} value={life} onChange={setLife} />}
      </Field>
    </FormDialog>
  );
}
