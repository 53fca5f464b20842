import { useState } from 'preact/hooks';
import type { CallInput, ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change } from '../../../state/answers.ts';
import { me } from '../../../state/session.ts';
import { say } from '../../../ui/toasts.tsx';
import { isolateText } from '../../../ui/words.ts';
import { Confirm } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { ifVersion, useSending } from '../parts/sending.ts';
import { NameField } from './create-dialog.tsx';

interface DialogProps {
  readonly principal: ListItem<'listPrincipals'>;
  readonly onClose: () => void;
}

const update = (
  { id, attributes }: DialogProps['principal'],
  body: CallInput<'updatePrincipal'>['body'],
): Promise<unknown> =>
  change('updatePrincipal', { params: { principal_id: id }, headers: ifVersion(attributes.version), body }, [
    'listPrincipals',
    'getPrincipal',
    'listTokens',
    'whoAmI',
  ]);

/** Dialog to change the name and roles of a principal. */
export function ChangePrincipal({ principal, onClose }: DialogProps) {
  const { attributes } = principal;
  const [name, setName] = useState(attributes.name);
  const [roles, setRoles] = useState<readonly Role[]>(attributes.roles);
  const sending = useSending(['name', 'roles']);
  const renamed = name.trim() !== attributes.name;
  const given = [...roles].sort().join() !== [...attributes.roles].sort().join();
  return (
    <FormDialog
      title={`Edit ${isolateText(attributes.name)}`}
      action="Save"
      disabled={!renamed && !given}
      logged={given ? ['principal.role_changed'] : []}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await update(principal, {
            ...(renamed && { name: name.trim() }),
            ...(given && { roles: [...roles] }),
          });
          say(`${isolateText(name.trim())} updated.`);
          onClose();
        })
      }
      onClose={onClose}
    >
      <NameField value={name} error={sending.at('name')} onValue={setName} />
      <RoleBoxes legend="Roles" value={roles} error={sending.at('roles')} onChange={setRoles} />
      <p class="quiet">Role changes take effect immediately, including in open sessions.</p>
    </FormDialog>
  );
}

/** Dialog to suspend or reactivate a principal. */
export function SwitchPrincipal({ principal, onClose }: DialogProps) {
  const { name, status } = principal.attributes;
  const isActive = status === 'active';
  return (
    <Confirm
      title={isActive ? `Suspend ${isolateText(name)}?` : `Reactivate ${isolateText(name)}?`}
      action={isActive ? 'Suspend' : 'Reactivate'}
      danger={isActive}
      logged={['principal.status_changed']}
      run={() => update(principal, { status: isActive ? 'suspended' : 'active' })}
      done={isActive ? `${isolateText(name)} suspended.` : `${isolateText(name)} reactivated.`}
      onClose={onClose}
    >
      <p>
        {isActive
          ? 'All access will be rejected: with passwords, tokens and certificates, and in open sessions.'
          : 'Access will be restored according to the assigned roles.'}
      </p>
      {me.value?.id === principal.id && (
        <p class="admin-bad">This is your own account: you will be signed out immediately.</p>
      )}
    </Confirm>
  );
}

/** Dialog to set a user's password. */
export function ResetPassword({ principal, onClose }: DialogProps) {
  const [password, setPassword] = useState('');
  const sending = useSending(['password']);
  const { name } = principal.attributes;
  return (
    <FormDialog
      title={`Set password for ${isolateText(name)}`}
      action="Set password"
      disabled={password === ''}
      logged={['token.revoked']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await update(principal, { password });
          say(`Password of ${isolateText(name)} changed.`);
          onClose();
        })
      }
      onClose={onClose}
    >
      <p>All sessions of this user will end. The user must then sign in with the new password.</p>
      <NewPassword label="New password" value={password} error={sending.at('password')} onValue={setPassword} />
    </FormDialog>
  );
}
