import type { ComponentChildren } from 'preact';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import './split.css';

/** A list at the left and the detail of one of its rows at the right; on a phone the detail covers the list. */
export function Split({ children, detail }: { children: ComponentChildren; detail?: ComponentChildren }) {
  return (
    <div class={detail ? 'split split-open' : 'split'}>
      <div class="split-list">{children}</div>
      {detail}
    </div>
  );
}

/** The frame of a detail: its title, what can be done, and what there is to know. */
export function Detail({
  title,
  onClose,
  actions,
  children,
}: {
  title: ComponentChildren;
  onClose: () => void;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  useKeys('Detail', { escape: { title: 'Close the detail', run: onClose } });
  return (
    <section class="detail" aria-label="Detail">
      <header class="detail-head">
        <h2>{title}</h2>
        <Button kind="plain" aria-label="Close the detail" onClick={onClose}>
          ✕
        </Button>
      </header>
      {actions !== undefined && <div class="detail-actions row">{actions}</div>}
      {/* It scrolls, so it has to be reached by keys. */}
      <div class="detail-body" tabIndex={0} role="group" aria-label="Contents">
        {children}
      </div>
    </section>
  );
}

/** Names and what they are: undefined ones are left out. */
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

/** A part of a detail, under its own heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
