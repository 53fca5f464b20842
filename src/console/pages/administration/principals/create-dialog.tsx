import { useState } from 'preact/hooks';
import { principalKinds, type Role } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { Choice } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { say } from '../../../ui/toasts.tsx';
import { isolateText } from '../../../ui/words.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { useSending } from '../parts/sending.ts';

type Kind = (typeof principalKinds)[number];

const kinds: Readonly<Record<Kind, { title: string; says: string; roles: Role[] }>> = {
  user: { title: 'User', says: 'A person who signs in to the console.', roles: ['viewer'] },
  sensor: { title: 'Sensor', says: 'A machine that sends events, using a token.', roles: ['sensor'] },
  auditor_client: { title: 'Auditor client', says: 'A machine that reads the log.', roles: ['auditor'] },
};

/** Dialog to create a principal. */
export function CreatePrincipal({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('user');
  const [roles, setRoles] = useState<Role[]>(kinds.user.roles);
  const [password, setPassword] = useState('');
  const sending = useSending(['name', 'kind', 'roles', 'password']);
  return (
    <FormDialog
      title="New principal"
      action="Create"
      logged={['principal.provisioned']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          const { data } = await change(
            'createPrincipal',
            {
              body: {
                name: name.trim(),
                kind,
                roles,
                ...(kind === 'user' && password !== '' && { password }),
              },
            },
            ['listPrincipals'],
          );
          say(`${isolateText(data.attributes.name)} created.`);
          setParams({ id: data.id });
          onClose();
        })
      }
      onClose={onClose}
    >
      <div class="row">
        <Choice
          label="Kind"
          options={principalKinds.map((value) => ({ value, title: kinds[value].title }))}
          value={kind}
          onChange={(next) => {
            setKind(next);
            setRoles(kinds[next].roles);
          }}
        />
        <span class="quiet">{kinds[kind].says}</span>
      </div>
      <NameField
        hint={kind === 'user' ? 'Used to sign in.' : undefined}
        value={name}
        error={sending.at('name')}
        onValue={setName}
      />
      <RoleBoxes legend="Roles" value={roles} error={sending.at('roles')} onChange={setRoles} />
      {kind === 'user' ? (
        <NewPassword
          label="Password"
          hint="At least 8 characters. Leave empty for sign-in with a client certificate."
          value={password}
          error={sending.at('password')}
          onValue={setPassword}
        />
      ) : (
        <p class="quiet">Issue a token afterwards, or use a client certificate with this name.</p>
      )}
    </FormDialog>
  );
}

/** Field for a principal's name, which is also the username of a user. */
export function NameField({
  hint,
  value,
  error,
  onValue,
}: {
  hint?: string | undefined;
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <TextField
      label="Name"
      hint={hint}
      error={error}
      autofocus
      autocomplete="off"
      autocapitalize="none"
      spellcheck={false}
      maxLength={200}
      value={value}
      onValue={onValue}
    />
  );
}
