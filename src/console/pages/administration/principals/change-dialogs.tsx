import type { CallInput, ListItem } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/vocabulary.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { me } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { useForm } from '../../../ui/sending.ts';
import { isolateText } from '../../../ui/words.ts';
import { NewPassword } from '../parts/new-password.tsx';
import { RoleBoxes } from '../parts/role-boxes.tsx';
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
  const form = useForm<{ name: string; roles: readonly Role[] }>({ name: attributes.name, roles: attributes.roles });
  const { roles } = form.values;
  const name = form.values.name.trim();
  const renamed = name !== attributes.name;
  const given = [...roles].sort().join() !== [...attributes.roles].sort().join();
  return (
    <ActionDialog
      title={`Edit ${isolateText(attributes.name)}`}
      action="Save"
      disabled={!renamed && !given}
      logged={given ? ['principal.role_changed'] : []}
      sending={form}
      run={() => update(principal, { ...(renamed && { name }), ...(given && { roles: [...roles] }) })}
      done={`${isolateText(name)} updated.`}
      onClose={onClose}
    >
      <NameField {...form.field('name')} />
      <RoleBoxes legend="Roles" {...form.field('roles')} />
      <p class="quiet">Role changes take effect immediately, including in open sessions.</p>
    </ActionDialog>
  );
}

/** Dialog to suspend or reactivate a principal. */
export function SwitchPrincipal({ principal, onClose }: DialogProps) {
  const { name, status } = principal.attributes;
  const isActive = status === 'active';
  return (
    <ActionDialog
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
    </ActionDialog>
  );
}

/** Dialog to set a user's password. */
export function ResetPassword({ principal, onClose }: DialogProps) {
  const form = useForm({ password: '' });
  const { name } = principal.attributes;
  return (
    <ActionDialog
      title={`Set password for ${isolateText(name)}`}
      action="Set password"
      disabled={form.values.password === ''}
      logged={['token.revoked']}
      sending={form}
      run={() => update(principal, form.values)}
      done={`Password of ${isolateText(name)} changed.`}
      onClose={onClose}
    >
      <p>All sessions of this user will end. The user must then sign in with the new password.</p>
      <NewPassword label="New password" {...form.field('password')} />
    </ActionDialog>
  );
}
