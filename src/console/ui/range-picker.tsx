import { useState } from 'preact/hooks';
import { setParams } from '../state/address.ts';
import { zone } from '../state/preferences.ts';
import { shownRange, shownWindow } from '../state/range.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form, TextField } from './form.tsx';
import { edges, zoneName } from './format.ts';
import { Menu } from './menu.tsx';

const titles = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
} as const;
type Named = keyof typeof titles;
const named = Object.keys(titles) as Named[];

/** Time range of the page. `windowsOnly` omits all time and custom ranges, for pages that show statistics. */
export function RangePicker({ windowsOnly = false }: { windowsOnly?: boolean }) {
  const [isCustomOpen, setCustomOpen] = useState(false);
  const { name, from, to } = shownRange();
  const text = windowsOnly ? titles[shownWindow()] : name === 'custom' ? edges(from, to).join(' – ') : titles[name];
  const choose = (range: Named) =>
    setParams({ range: range === '24h' ? undefined : range, from: undefined, to: undefined });
  return (
    <>
      <Menu
        class="button"
        label={`Time: ${text}`}
        items={() => [
          ...named
            .filter((one) => !windowsOnly || one !== 'all')
            .map((one) => ({ title: titles[one], run: () => choose(one) })),
          ...(windowsOnly ? [] : ['line' as const, { title: 'Custom range', run: () => setCustomOpen(true) }]),
        ]}
      >
        {text} ▾
      </Menu>
      {isCustomOpen && <CustomRange from={from} to={to} onClose={() => setCustomOpen(false)} />}
    </>
  );
}

function CustomRange({ from, to, onClose }: { from: string | undefined; to: string | undefined; onClose: () => void }) {
  const [known, knownEnd] = edges(from, to);
  const [start, setStart] = useState(from === undefined ? '' : known);
  const [end, setEnd] = useState(to === undefined ? '' : knownEnd);
  const bad = (text: string) =>
    text !== '' && Number.isNaN(read(text)) ? 'Enter a time like 2026-11-20 23:15:00' : undefined;
  const wrongOrder = read(start) >= read(end) ? 'End must be after the start.' : undefined;
  // Shows the UTC offset at the entered time, because the offset changes with daylight saving time.
  const hint = (text: string) => {
    const at = read(text);
    return `Time zone: ${zoneName(Number.isNaN(at) ? Date.now() : at)}. Leave empty for no limit.`;
  };
  return (
    <Dialog title="Custom range" onClose={onClose}>
      <Form
        onSubmit={() => {
          if (bad(start) || bad(end) || wrongOrder) return;
          const iso = (text: string) => (text === '' ? undefined : new Date(read(text)).toISOString());
          setParams({
            range: start === '' && end === '' ? 'all' : undefined,
            from: iso(start),
            to: iso(end),
          });
          onClose();
        }}
      >
        <TextField label="From" hint={hint(start)} error={bad(start)} value={start} onValue={setStart} />
        <TextField label="Until" hint={hint(end)} error={bad(end) ?? wrongOrder} value={end} onValue={setEnd} />
        <Button type="submit" kind="primary">
          Apply
        </Button>
      </Form>
    </Dialog>
  );
}

/** Parses a time, in the preferred zone unless it names a zone. Returns epoch milliseconds, NaN if invalid. */
function read(text: string): number {
  const plain = text.trim().replace(' ', 'T');
  const hasZone = /(Z|[+-]\d\d:\d\d)$/i.test(plain);
  const dateOnly = /^\d{4}-\d\d-\d\d$/.test(plain);
  const full = dateOnly ? `${plain}T00:00:00` : plain;
  return Date.parse(hasZone || zone.value === 'local' ? full : `${full}Z`);
}
