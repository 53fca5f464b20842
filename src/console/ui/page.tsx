import type { ComponentChildren } from 'preact';
import { RangePicker } from './range-picker.tsx';
import { ZoneSwitch } from './zone-switch.tsx';
import './page.css';

/** Layout of a page: a bar with title, filters and time range, and the contents below. */
export function Page({
  title,
  bar,
  range = 'none',
  children,
  scrolls = false,
}: {
  title: string;
  /** Filters and other controls for the bar. */
  bar?: ComponentChildren;
  /** Time range control: any range, or only the windows of the statistics. */
  range?: 'none' | 'any' | 'windows';
  children: ComponentChildren;
  /** Whether the page scrolls as a whole instead of its parts. */
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
