import { type Role, roles } from '../../../../contract/vocabulary.ts';
import { FormError } from '../../../ui/form.tsx';

/** Descriptions of the roles under the default policy. */
const meanings: Readonly<Record<Role, string>> = {
  viewer: 'reads events, alerts, assets and statistics',
  analyst: 'handles alerts, assets, silences and scans; reads log entries',
  admin: 'full access, including administration',
  sensor: 'can only send events',
  auditor: 'reads and verifies the log',
};

export function RoleBoxes({
  legend,
  offered = roles,
  value,
  error,
  onValue,
}: {
  legend: string;
  offered?: readonly Role[];
  value: readonly Role[];
  error?: string | undefined;
  onValue: (value: readonly Role[]) => void;
}) {
  return (
    <fieldset class="admin-choices">
      <legend>{legend}</legend>
      {offered.map((role) => (
        <label key={role}>
          <input
            type="checkbox"
            checked={value.includes(role)}
            onChange={(event) =>
              onValue(roles.filter((one) => (one === role ? event.currentTarget.checked : value.includes(one))))
            }
          />
          <span>
            {role} <span class="quiet">{meanings[role]}</span>
          </span>
        </label>
      ))}
      <FormError>{error}</FormError>
    </fieldset>
  );
}
