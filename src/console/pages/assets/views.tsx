import { place, setParams } from '../../state/address.ts';
import type { ranges } from '../../state/range.ts';
import { edges } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { type Seen, seenParams, shownSeen } from './question.ts';

export const assetViews = [
  { value: 'assets', title: 'Assets' },
  { value: 'services', title: 'Services' },
] as const;

/** Filters with the same meaning in both lists; other filters are removed when switching. */
const shared: readonly string[] = ['ip', 'q', 'from', 'to', 'range', 'unseen'];

/** Switches between assets and services. */
export const Views = () => (
  <Tabs
    label="List"
    tabs={assetViews}
    others={Object.fromEntries(
      [...place.value.params.keys()].filter((name) => !shared.includes(name)).map((name) => [name, undefined]),
    )}
  />
);

const lengths = {
  '15m': '15 minutes',
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
} as const satisfies Record<keyof typeof ranges, string>;

function written(seen: Seen): string {
  switch (seen.kind) {
    case 'any':
      return 'Last seen: any time';
    case 'within':
      return `Seen in the last ${lengths[seen.range]}`;
    case 'not within':
      return `Not seen for ${lengths[seen.range].replace(/^hour$/, '1 hour')}`;
    case 'between':
      return `Seen ${edges(seen.from, seen.to).join(' – ')}`;
  }
}

/** The last-seen filter. Unlike on other pages, the default is any time, so that silent hosts are listed too. */
export function SeenPicker() {
  const seen = shownSeen(place.value.params);
  const choose = (next: Seen) => setParams({ ...seenParams(next), id: undefined });
  const names = Object.keys(lengths) as (keyof typeof lengths)[];
  return (
    <Menu
      class="button"
      label={`Time: ${written(seen)}`}
      items={() => [
        { title: written({ kind: 'any' }), run: () => choose({ kind: 'any' }) },
        'line',
        ...names.map((range) => ({
          title: written({ kind: 'within', range }),
          run: () => choose({ kind: 'within', range }),
        })),
        'line',
        ...names
          .filter((range) => range !== '15m')
          .map((range) => ({
            title: written({ kind: 'not within', range }),
            run: () => choose({ kind: 'not within', range }),
          })),
      ]}
    >
      {written(seen)} ▾
    </Menu>
  );
}
