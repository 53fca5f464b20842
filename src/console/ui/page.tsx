import type { ComponentChildren } from 'preact';
import { RangePicker } from './range-picker.tsx';
import { ZoneSwitch } from './zone-switch.tsx';
import './page.css';

/** A page: one bar that says where, what and when, and below it what the page shows. */
export function Page({
  title,
  bar,
  range = 'none',
  children,
  scrolls = false,
}: {
  title: string;
  /** Filters and what else belongs into the bar. */
  bar?: ComponentChildren;
  /** Whether the page is about a time: any, or one of the windows that figures are kept for. */
  range?: 'none' | 'any' | 'windows';
  children: ComponentChildren;
  /** The page scrolls as a whole; else its parts do. */
  scrolls?: boolean;
}) {
  return (
    <main class="page" id="main" tabIndex={-1}>
      <header class="page-bar">
        <h1>{title}</h1>
        <div class="page-what">{bar}</div>
        <div class="page-time">
          {range !== 'none' && <RangePicker windowsOnly={range === 'windows'} />}
          <ZoneSwitch />
        </div>
      </header>
      {scrolls ? (
        <div class="page-body page-scrolls" tabIndex={0} role="group" aria-label={`${title}: contents`}>
          {children}
        </div>
      ) : (
        <div class="page-body">{children}</div>
      )}
    </main>
  );
}
