import { type Role, roles } from '../../../../contract/vocabulary.ts';
import { Checkboxes } from '../../../ui/form.tsx';

/** Descriptions of the roles under the default policy. */
const meanings: Readonly<Record<Role, string>> = {
  viewer: 'reads events, alerts, assets and statistics',
  analyst: 'handles alerts, assets, silences and scans; reads log entries',
  admin: 'full access, including administration',
  sensor: 'can only send events',
  auditor: 'reads and verifies the log',
};

export function RoleBoxes({
  offered = roles,
  ...field
}: {
  legend: string;
  offered?: readonly Role[];
  value: readonly Role[];
  error?: string | undefined;
  onValue: (value: readonly Role[]) => void;
}) {
  return (
    <Checkboxes
      values={offered}
      labelOf={(role) => (
        <>
          {role} <span class="quiet">{meanings[role]}</span>
        </>
      )}
      {...field}
    />
  );
}
