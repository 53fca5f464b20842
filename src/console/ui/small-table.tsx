import type { ComponentChildren } from 'preact';
import './small-table.css';

/**
 * A table within a detail, with its rows as children. Cells do not wrap except those of class
 * `small-table-wide`; class `table-end` aligns numbers.
 */
export function SmallTable({
  label,
  heads,
  children,
}: {
  /** Accessible name of the table. If set, the table scrolls horizontally when space is short. */
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
