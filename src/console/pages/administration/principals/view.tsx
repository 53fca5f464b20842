import type { ListItem } from '../../../../client/client.ts';
import { timeColumn } from '../../../ui/attribute-columns.tsx';
import { words } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { CreatePrincipal } from './create-dialog.tsx';
import { PrincipalDetail } from './detail.tsx';

/** Principals: users and machines with access. */
export default function Principals() {
  return (
    <ListView
      operation="listPrincipals"
      of="principals"
      sort="-created_at"
      columns={columns}
      one={{ operation: 'getPrincipal', parameter: 'principal_id' }}
      detail={(principal) => <PrincipalDetail key={principal.id} principal={principal} />}
      rowClass={({ attributes: { status } }) => (status === 'suspended' ? 'admin-off' : '')}
      empty={<Empty title="No principals" />}
      actions={
        <DialogButton
          operation="createPrincipal"
          title="New principal"
          dialog={(close) => <CreatePrincipal onClose={close} />}
        />
      }
    />
  );
}

const columns: readonly Column<ListItem<'listPrincipals'>>[] = [
  column('name', 'Name', { width: 'minmax(110px, 1fr)', sort: 'name' }, ({ attributes: { name } }) => (
    <bdi title={name}>{name}</bdi>
  )),
  column('kind', 'Kind', { width: '110px', from: 620, sort: 'kind' }, ({ attributes: { kind } }) => words(kind)),
  column('roles', 'Roles', { width: 'minmax(90px, 1fr)' }, ({ attributes: { roles } }) =>
    roles.length === 0 ? <span class="quiet">none</span> : roles.join(', '),
  ),
  column('status', 'Status', { width: '90px', sort: 'status' }, ({ attributes: { status } }) => (
    <span class={status === 'suspended' ? 'admin-bad' : ''}>{status === 'suspended' ? '✕ suspended' : status}</span>
  )),
  timeColumn('login', 'Last login', 'last_login_at', { width: '96px', from: 700, absent: 'never' }),
  timeColumn('created', 'Created', 'created_at', { width: '84px', from: 800 }),
];
