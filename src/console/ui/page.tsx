import type { ComponentChildren } from 'preact';
import { zone } from '../state/preferences.ts';
import { Button } from './button.tsx';
import { zoneName } from './format.ts';
import { RangePicker } from './range-picker.tsx';
import { shortZone } from './words.ts';
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

/** Shows the time zone of the page and switches to the other time zone. */
function ZoneSwitch() {
  const isUtc = zone.value === 'utc';
  const name = shortZone(zoneName(Date.now()));
  return (
    <Button
      kind="plain"
      aria-label={`Time zone: ${name}`}
      title={isUtc ? 'Times are in UTC. Switch to local time' : `Times are local (${name}). Switch to UTC`}
      onClick={() => {
        zone.value = isUtc ? 'local' : 'utc';
      }}
    >
      {name}
    </Button>
  );
}
