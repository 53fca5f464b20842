import { principalKinds, type Role } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Choice } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/form.tsx';
import { useForm } from '../../../ui/sending.ts';
import { say } from '../../../ui/toasts.tsx';
import { isolateText } from '../../../ui/words.ts';
import { NewPassword } from '../parts/new-password.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';

type Kind = (typeof principalKinds)[number];

const kinds: Readonly<Record<Kind, { title: string; says: string; roles: Role[] }>> = {
  user: { title: 'User', says: 'A person who signs in to the console.', roles: ['viewer'] },
  sensor: { title: 'Sensor', says: 'A machine that sends events, using a token.', roles: ['sensor'] },
  auditor_client: { title: 'Auditor client', says: 'A machine that reads the log.', roles: ['auditor'] },
};

/** Dialog to create a principal. */
export function CreatePrincipal({ onClose }: { onClose: () => void }) {
  const form = useForm<{ name: string; kind: Kind; roles: readonly Role[]; password: string }>({
    name: '',
    kind: 'user',
    roles: kinds.user.roles,
    password: '',
  });
  const { name, kind, roles, password } = form.values;
  return (
    <ActionDialog
      title="New principal"
      action="Create"
      logged={['principal.provisioned']}
      sending={form}
      run={async () => {
        const given = kind === 'user' && password !== '' && { password };
        const body = { name: name.trim(), kind, roles: [...roles], ...given };
        const { data } = await change('createPrincipal', { body }, ['listPrincipals']);
        say(`${isolateText(data.attributes.name)} created.`);
        setParams({ id: data.id });
      }}
      onClose={onClose}
    >
      <div class="row">
        <Choice
          label="Kind"
          options={principalKinds.map((value) => ({ value, title: kinds[value].title }))}
          value={kind}
          onChange={(next) => form.set({ kind: next, roles: kinds[next].roles })}
        />
        <span class="quiet">{kinds[kind].says}</span>
      </div>
      <NameField hint={kind === 'user' ? 'Used to sign in.' : undefined} {...form.field('name')} />
      <RoleBoxes legend="Roles" {...form.field('roles')} />
      {kind === 'user' ? (
        <NewPassword
          label="Password"
          hint="At least 8 characters. Leave empty for sign-in with a client certificate."
          {...form.field('password')}
        />
      ) : (
        <p class="quiet">Issue a token afterwards, or use a client certificate with this name.</p>
      )}
    </ActionDialog>
  );
}

/** Field for a principal's name, which is also the username of a user. */
export function NameField(field: {
  hint?: string | undefined;
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <TextField
      label="Name"
      autofocus
      autocomplete="off"
      autocapitalize="none"
      spellcheck={false}
      maxLength={200}
      {...field}
    />
  );
}
