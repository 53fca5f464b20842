import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { number } from './format.ts';
import { Time } from './time.tsx';
import './happenings.css';

interface Entry {
  readonly id: string;
  readonly attributes: { readonly at: string };
}

/** What happened to something: when, and what; and how many are older than those that are shown. */
export function Happenings<E extends Entry>({
  entries,
  total,
  happened,
  onAll,
}: {
  entries: readonly E[];
  total: number;
  happened: (entry: E['attributes']) => ComponentChildren;
  /** Shows the older ones as well, where that can be. */
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
          <p class="quiet">{number(total - entries.length)} older changes are not shown.</p>
        ) : (
          <div>
            <Button kind="plain" onClick={onAll}>
              All {number(total)}
            </Button>
          </div>
        ))}
    </>
  );
}
