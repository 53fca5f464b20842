import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { counted, number } from './format.ts';
import { Time } from './time.tsx';
import './happenings.css';

interface Entry {
  readonly id: string;
  readonly attributes: { readonly at: string };
}

/** A history: the time and description of each entry, and the number of older entries that are not shown. */
export function HistoryList<E extends Entry>({
  entries,
  total,
  happened,
  onAll,
}: {
  entries: readonly E[];
  total: number;
  happened: (entry: E['attributes']) => ComponentChildren;
  /** Loads the older entries as well. */
  onAll?: (() => void) | undefined;
}) {
  return (
    <>
      <ol class="happenings">
        {entries.map(({ id, attributes }) => (
          <li key={id}>
            <span class="quiet">
              <Time at={attributes.at} />
            </span>
            {happened(attributes)}
          </li>
        ))}
      </ol>
      {total > entries.length &&
        (onAll === undefined ? (
          <p class="quiet">{counted(total - entries.length, 'older entry', 'older entries')} not shown.</p>
        ) : (
          <div>
            <Button kind="plain" onClick={onAll}>
              Show all {number(total)} entries
            </Button>
          </div>
        ))}
    </>
  );
}
