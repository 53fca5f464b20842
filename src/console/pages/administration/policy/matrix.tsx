import { roles } from '../../../../contract/vocabulary.ts';
import { type Row, type Rules, rowsOf, withPublic, withRole } from './draft.ts';
import './matrix.css';

/** Who may do what: operations down, roles across; each row says it in words where there is no room for that. */
export function Matrix({
  rules,
  before,
  search,
  onRules,
}: {
  rules: Rules;
  /** As it is in effect: what differs from it stands out. */
  before: Rules;
  search: string;
  /** Absent where it is only read. */
  onRules?: ((rules: Rules) => void) | undefined;
}) {
  const asked = search.trim().toLowerCase();
  const old = new Map(rowsOf(before).map((row) => [row.operation, row]));
  const rows = rowsOf(rules).filter(({ operation, summary, tag }) =>
    `${operation} ${summary} ${tag}`.toLowerCase().includes(asked),
  );
  const tags = [...new Set(rows.map(({ tag }) => tag))];
  if (rows.length === 0) return <p class="matrix-none quiet">No operation is called like that.</p>;
  return (
    <div class="matrix" tabIndex={0} role="group" aria-label="Who may do what">
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">everybody</th>
            {roles.map((role) => (
              <th key={role} scope="col">
                {role}
              </th>
            ))}
          </tr>
        </thead>
        {tags.map((tag) => (
          <tbody key={tag}>
            <tr class="matrix-tag">
              <th colSpan={roles.length + 2} scope="rowgroup">
                {tag}
              </th>
            </tr>
            {rows
              .filter((row) => row.tag === tag)
              .map((row) => (
                <MatrixRow
                  key={row.operation}
                  row={row}
                  isChanged={says(row) !== says(old.get(row.operation))}
                  rules={rules}
                  onRules={onRules}
                />
              ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const says = (row: Row | undefined): string =>
  row === undefined ? '' : row.isPublic ? 'everybody' : row.roles.join(', ') || 'nobody';

function MatrixRow({
  row,
  isChanged,
  rules,
  onRules,
}: {
  row: Row;
  isChanged: boolean;
  rules: Rules;
  onRules: ((rules: Rules) => void) | undefined;
}) {
  const { operation, summary, isPublic, isFixed, mayBePublic } = row;
  const cell = (name: string, held: boolean, press: (() => void) | undefined) =>
    onRules === undefined ? (
      <span class={held ? 'matrix-yes' : 'quiet'}>
        <span aria-hidden="true">{held ? '●' : '·'}</span>
        <span class="unseen">{held ? 'may' : 'may not'}</span>
      </span>
    ) : (
      <input
        type="checkbox"
        aria-label={`${operation}: ${name}`}
        checked={held}
        disabled={press === undefined}
        onChange={press}
      />
    );
  return (
    <tr class={isChanged ? 'matrix-changed' : ''}>
      <th scope="row" title={summary}>
        <code>{operation}</code>
        <span class="matrix-summary quiet">{summary}</span>
        <span class="matrix-says">
          {says(row)}
          {isChanged && ' (changed)'}
        </span>
      </th>
      <td>
        {cell(
          'everybody',
          isPublic,
          isFixed || !mayBePublic ? undefined : () => onRules?.(withPublic(rules, operation, !isPublic)),
        )}
      </td>
      {roles.map((role) => (
        <td key={role}>
          {cell(
            role,
            isPublic || row.roles.includes(role),
            isFixed || isPublic ? undefined : () => onRules?.(withRole(rules, operation, role)),
          )}
        </td>
      ))}
    </tr>
  );
}
