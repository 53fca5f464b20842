import { place, setParams } from '../../state/address.ts';
import { recently } from '../../state/clock.ts';
import { ranges } from '../../state/range.ts';
import { Choice } from '../../ui/button.tsx';
import './window.css';

/** Time windows of the detail view: the values of the URL parameter `window`. */
const windows = ['1h', '24h', '7d', '30d'] as const;
const usual = '24h';
export type Window = (typeof windows)[number];

export const shownWindow = (): Window => windows.find((one) => one === place.value.params.get('window')) ?? usual;

/** Returns the start of the window in ISO 8601, rounded down to 30 seconds, so that queries can be cached. */
export const windowStart = (window: Window): string =>
  new Date(Math.floor(recently.value / 30_000) * 30_000 - ranges[window]).toISOString();

const titles: Readonly<Record<Window, string>> = { '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' };

/** Selects the time window. */
export function WindowChoice({ label }: { label: string }) {
  return (
    <div class="asset-window">
      <span class="quiet">{label}</span>
      <Choice
        label="Time window"
        options={windows.map((value) => ({ value, title: titles[value] }))}
        value={shownWindow()}
        onChange={(window) => setParams({ window: window === usual ? undefined : window }, { replace: true })}
      />
    </div>
  );
}
