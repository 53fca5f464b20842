import type { ComponentChildren } from 'preact';
import { setParams } from '../state/address.ts';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import './split.css';

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
