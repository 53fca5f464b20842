import { roles } from '../../../../contract/vocabulary.ts';
import { type Row, type Rules, rowsOf, withPublic, withRole } from './draft.ts';
import './matrix.css';

/**
 * The access matrix: a row per operation, a column per role. On narrow screens, a read-only matrix shows the roles of a
 * row in words.
 */
export function Matrix({
  rules,
  before,
  search,
  onRules,
}: {
  rules: Rules;
  /** The rules before the edit; rows that differ from them are highlighted. */
  before: Rules;
  search: string;
  /** Called with the edited rules; absent if read-only. */
  onRules?: ((rules: Rules) => void) | undefined;
}) {
  const asked = search.trim().toLowerCase();
  const old = new Map(rowsOf(before).map((row) => [row.operation, row]));
  const rows = rowsOf(rules).filter(({ operation, summary, tag }) =>
    `${operation} ${summary} ${tag}`.toLowerCase().includes(asked),
  );
  const tags = [...new Set(rows.map(({ tag }) => tag))];
  if (rows.length === 0) return <p class="matrix-none quiet">No matching operations</p>;
  return (
    <div class="matrix" tabIndex={0} role="group" aria-label="Access by role">
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">public</th>
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
  row === undefined ? '' : row.isPublic ? 'public' : row.roles.join(', ') || 'no roles';

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
        <span class="unseen">{held ? 'allowed' : 'not allowed'}</span>
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
          'public',
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
