import { place, setParams } from '../../state/address.ts';
import { recently } from '../../state/clock.ts';
import { ranges } from '../../state/range.ts';
import { Choice } from '../../ui/button.tsx';
import './window.css';

/** How far back the figures of a detail look: `window` of the address, in steps that a day's work asks for. */
const windows = ['1h', '24h', '7d', '30d'] as const;
const usual = '24h';
export type Window = (typeof windows)[number];

export const shownWindow = (): Window =>
  windows.find((one) => one === place.value.params.get('window')) ?? usual;

/** Its start, ISO 8601: in whole half minutes, so that the same question is asked once. */
export const windowStart = (window: Window): string =>
  new Date(Math.floor(recently.value / 30_000) * 30_000 - ranges[window]).toISOString();

const titles: Readonly<Record<Window, string>> = { '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' };

/** Says what is told of that time, and lets it be chosen. */
export function WindowChoice({ says }: { says: string }) {
  return (
    <div class="asset-window">
      <span class="quiet">{says}</span>
      <Choice
        label="How far back"
        options={windows.map((value) => ({ value, title: titles[value] }))}
        value={shownWindow()}
        onChange={(window) => setParams({ window: window === usual ? undefined : window }, { replace: true })}
      />
    </div>
  );
}
