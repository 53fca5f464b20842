import { type Role, roles } from '../../../../contract/vocabulary.ts';

/** What each role is for, as the policy has it at first. */
const meanings: Readonly<Record<Role, string>> = {
  viewer: 'reads events, alerts, assets and figures',
  analyst: 'works on alerts and assets, silences, scans, reads log entries',
  admin: 'everything, this page included',
  sensor: 'sends events, and nothing else',
  auditor: 'reads and verifies the log',
};

/** Which roles somebody has. */
export function RoleBoxes({
  legend,
  offered = roles,
  value,
  error,
  onChange,
}: {
  legend: string;
  offered?: readonly Role[];
  value: readonly Role[];
  error?: string | undefined;
  onChange: (value: Role[]) => void;
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
              onChange(
                roles.filter((one) => (one === role ? event.currentTarget.checked : value.includes(one))),
              )
            }
          />
          <span>
            {role} <span class="quiet">{meanings[role]}</span>
          </span>
        </label>
      ))}
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
