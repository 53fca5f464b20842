import { useState } from 'preact/hooks';
import { setParams } from '../state/address.ts';
import { zone } from '../state/preferences.ts';
import { shownRange, shownWindow } from '../state/range.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { edge, zoneName } from './format.ts';
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

/** Which time the page is about. `windows` leaves out what only lists can show: all time, and any other range. */
export function RangePicker({ windowsOnly = false }: { windowsOnly?: boolean }) {
  const [asking, setAsking] = useState(false);
  const { name, from, to } = shownRange();
  const text = windowsOnly
    ? titles[shownWindow()]
    : name === 'custom'
      ? `${edge(from)} – ${edge(to)}`
      : titles[name];
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
          ...(windowsOnly ? [] : ['line' as const, { title: 'From … to …', run: () => setAsking(true) }]),
        ]}
      >
        {text} ▾
      </Menu>
      {asking && <OwnRange from={from} to={to} onClose={() => setAsking(false)} />}
    </>
  );
}

function OwnRange({
  from,
  to,
  onClose,
}: {
  from: string | undefined;
  to: string | undefined;
  onClose: () => void;
}) {
  const [start, setStart] = useState(from === undefined ? '' : edge(from));
  const [end, setEnd] = useState(to === undefined ? '' : edge(to));
  const bad = (text: string) =>
    text !== '' && Number.isNaN(read(text)) ? 'Like 2026-11-20 23:15:00' : undefined;
  const wrongOrder = read(start) >= read(end) ? 'It ends before it starts.' : undefined;
  // The zone as it is at that time: it may be summer then.
  const hint = (text: string) => {
    const at = read(text);
    return `In ${zoneName(Number.isNaN(at) ? Date.now() : at)}; empty for an open end.`;
  };
  return (
    <Dialog title="From … to …" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
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
        <Field label="From" hint={hint(start)} error={bad(start)}>
          {(attributes) => (
            <input {...attributes} value={start} onInput={(event) => setStart(event.currentTarget.value)} />
          )}
        </Field>
        <Field label="To, and no longer" hint={hint(end)} error={bad(end) ?? wrongOrder}>
          {(attributes) => (
            <input {...attributes} value={end} onInput={(event) => setEnd(event.currentTarget.value)} />
          )}
        </Field>
        <Button type="submit" kind="primary">
          Show
        </Button>
      </form>
    </Dialog>
  );
}

/** Epoch milliseconds of a text in the zone that is preferred; NaN for what is none. */
function read(text: string): number {
  const plain = text.trim().replace(' ', 'T');
  const hasZone = /(Z|[+-]\d\d:\d\d)$/i.test(plain);
  const dateOnly = /^\d{4}-\d\d-\d\d$/.test(plain);
  const full = dateOnly ? `${plain}T00:00:00` : plain;
  return Date.parse(hasZone || zone.value === 'local' ? full : `${full}Z`);
}
