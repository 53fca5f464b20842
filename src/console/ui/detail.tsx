import type { ComponentChildren } from 'preact';
import type { ServiceError } from '../../errors.ts';
import { setParams } from '../state/address.ts';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import { counted, number } from './format.ts';
import { Empty, Failure, Loading } from './states.tsx';
import { copy } from './toasts.tsx';
import { Time } from './values.tsx';
import { title } from './words.ts';
import './detail.css';

/** A list with the detail of a row on its right; on phones the detail covers the list. */
export function Split({ children, detail }: { children: ComponentChildren; detail?: ComponentChildren }) {
  return (
    <div class={detail ? 'split split-open' : 'split'}>
      <div class="split-list">{children}</div>
      {detail}
    </div>
  );
}

/** Closes the detail of the item whose ID is in the URL. */
export const closeDetail = (): void => setParams({ id: undefined });

/** Frame of a detail: title, actions and contents. */
export function Detail({
  title,
  onClose = closeDetail,
  actions,
  children,
}: {
  title: ComponentChildren;
  onClose?: () => void;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  useKeys('Detail', { escape: { title: 'Close details', run: onClose } });
  return (
    <section class="detail" aria-label="Detail">
      <header class="detail-head">
        <h2>{title}</h2>
        <Button kind="plain" aria-label="Close details" onClick={onClose}>
          ✕
        </Button>
      </header>
      {actions !== undefined && <div class="detail-actions row">{actions}</div>}
      {/* Scrollable areas must be focusable for the keyboard. */}
      <div class="detail-body" tabIndex={0} role="group" aria-label="Contents">
        {children}
      </div>
    </section>
  );
}

/** A list of names and values; undefined values are omitted. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren | undefined])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A section of a detail with its heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Detail of an item that is loading, does not exist or is unavailable; `children` explain why it may not exist. */
export function AbsentItem({
  of,
  error,
  onRetry,
  children,
}: {
  /** Name of the item, such as `alert`. */
  of: string;
  /** Null while the item is loading. */
  error: ServiceError | null;
  onRetry: () => void;
  children: ComponentChildren;
}) {
  const isUnknown = error?.code === 'NOT_FOUND' || error?.code === 'INVALID_REQUEST';
  return (
    <Detail title={isUnknown ? `${title(of)} not found` : title(of)}>
      {error === null ? (
        <Loading rows={8} />
      ) : isUnknown ? (
        <Empty title={`There is no ${of} with this ID`}>{children}</Empty>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </Detail>
  );
}

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

/** The JSON of a resource, at the end of its detail. */
export function Raw({ of }: { of: object }) {
  const text = JSON.stringify(of, null, 2);
  return (
    <Section title="Raw">
      <details class="raw">
        <summary>JSON</summary>
        <Button onClick={() => copy(text, 'JSON')}>Copy</Button>
        <pre class="mono" tabIndex={0}>
          {text}
        </pre>
      </details>
    </Section>
  );
}
