import type { ComponentChildren } from 'preact';
import './small-table.css';

/**
 * A table within a detail, its rows as children. Cells stand in one line but for those of class `small-table-wide`;
 * those of `table-end` are numbers.
 */
export function SmallTable({
  label,
  heads,
  children,
}: {
  /** Where it may be wider than its place: what it is called, for it scrolls sideways then. */
  label?: string;
  heads: readonly { readonly title: string; readonly end?: boolean }[];
  children: ComponentChildren;
}) {
  const table = (
    <table class="small-table">
      <thead>
        <tr>
          {heads.map(({ title, end = false }) => (
            <th key={title} scope="col" class={end ? 'table-end' : ''}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    <div class="small-table-scrolls" tabIndex={0} role="group" aria-label={label}>
      {table}
    </div>
  );
}
