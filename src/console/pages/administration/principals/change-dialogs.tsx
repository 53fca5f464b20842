import { useState } from 'preact/hooks';
import type { CallInput, ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change } from '../../../state/answers.ts';
import { me } from '../../../state/session.ts';
import { say } from '../../../ui/toasts.tsx';
import { foreign } from '../../../ui/words.ts';
import { Confirm } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
import { useSending } from '../parts/sending.ts';
import { ifVersion } from '../parts/version.ts';
import { NameField } from './name-field.tsx';

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

/** Another name, other roles. */
export function ChangePrincipal({ principal, onClose }: DialogProps) {
  const { attributes } = principal;
  const [name, setName] = useState(attributes.name);
  const [roles, setRoles] = useState<readonly Role[]>(attributes.roles);
  const sending = useSending(['name', 'roles']);
  const renamed = name.trim() !== attributes.name;
  const given = [...roles].sort().join() !== [...attributes.roles].sort().join();
  return (
    <FormDialog
      title={`Change ${foreign(attributes.name)}`}
      action="Change"
      disabled={!renamed && !given}
      logged={given ? ['principal.role_changed'] : []}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await update(principal, {
            ...(renamed && { name: name.trim() }),
            ...(given && { roles: [...roles] }),
          });
          say(`${foreign(name.trim())} was changed.`);
          onClose();
        })
      }
      onClose={onClose}
    >
      <NameField value={name} error={sending.at('name')} onValue={setName} />
      <RoleBoxes legend="Roles" value={roles} error={sending.at('roles')} onChange={setRoles} />
      <p class="quiet">Roles count at once, in sessions that are open, too.</p>
    </FormDialog>
  );
}

/** Out, or in again. */
export function SwitchPrincipal({ principal, onClose }: DialogProps) {
  const { name, status } = principal.attributes;
  const isActive = status === 'active';
  return (
    <Confirm
      title={isActive ? `Suspend ${foreign(name)}?` : `Let ${foreign(name)} in again?`}
      action={isActive ? 'Suspend' : 'Let in again'}
      danger={isActive}
      logged={['principal.status_changed']}
      run={() => update(principal, { status: isActive ? 'suspended' : 'active' })}
      done={isActive ? `${foreign(name)} is suspended.` : `${foreign(name)} may come in again.`}
      onClose={onClose}
    >
      <p>
        {isActive
          ? 'From then on it is refused, whatever it comes with: password, token, certificate, or a session that is open.'
          : 'From then on it may do again what its roles allow.'}
      </p>
      {me.value?.id === principal.id && <p class="admin-bad">That is you: you would be out at once.</p>}
    </Confirm>
  );
}

/** A password from an administrator. */
export function ResetPassword({ principal, onClose }: DialogProps) {
  const [password, setPassword] = useState('');
  const sending = useSending(['password']);
  const { name } = principal.attributes;
  return (
    <FormDialog
      title={`Set a password for ${foreign(name)}`}
      action="Set the password"
      disabled={password === ''}
      logged={['token.revoked']}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await update(principal, { password });
          say(`The password of ${foreign(name)} is another one now.`);
          onClose();
        })
      }
      onClose={onClose}
    >
      <p>All its sessions end: it signs in again, with this password.</p>
      <NewPassword
        label="New password"
        value={password}
        error={sending.at('password')}
        onValue={setPassword}
      />
    </FormDialog>
  );
}
