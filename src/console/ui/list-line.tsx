import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { counted } from './format.ts';
import type { Rows } from './table.tsx';
import { Time } from './values.tsx';
import './list-line.css';

/** The line above a list: the number of rows, and a button that loads new rows. */
export function ListLine({
  list: { total, error },
  of,
  asOf,
  refresh,
  onRefresh,
  children,
}: {
  list: Pick<Rows<unknown>, 'total' | 'error'>;
  /** Name of one row. */
  of: string;
  /** Time at which the list was fetched, in epoch milliseconds; not shown if absent or 0. */
  asOf?: number;
  /** Label of the button, such as `3 new`; the button is hidden if the label is empty. */
  refresh: string;
  onRefresh: () => void;
  children?: ComponentChildren;
}) {
  return (
    <div class="list-line">
      <span class="quiet" role="status">
        {total !== undefined ? counted(total, of) : error == null && '…'}
      </span>
      {asOf !== undefined && asOf > 0 && (
        <span class="quiet">
          as of <Time at={asOf} />
        </span>
      )}
      <span role="status" aria-live="polite">
        {refresh !== '' && (
          <Button kind="plain" hint="." onClick={onRefresh}>
            {refresh}
          </Button>
        )}
      </span>
      {children}
    </div>
  );
}
