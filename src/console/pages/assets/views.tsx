import { place, setParams } from '../../state/address.ts';
import type { ranges } from '../../state/range.ts';
import { edge } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { type Seen, seenParams, shownSeen } from './question.ts';

export const assetViews = [
  { value: 'assets', title: 'Assets' },
  { value: 'services', title: 'Services' },
] as const;

/** The filters that both lists understand alike; the others go when one changes to the other. */
const shared: readonly string[] = ['ip', 'q', 'from', 'to', 'range', 'unseen'];

/** Hosts, or what they offer. */
export const Views = () => (
  <Tabs
    label="What is listed"
    tabs={assetViews}
    others={Object.fromEntries(
      [...place.value.params.keys()]
        .filter((name) => !shared.includes(name))
        .map((name) => [name, undefined]),
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
      return 'Seen at any time';
    case 'within':
      return `Seen in the last ${lengths[seen.range]}`;
    case 'not within':
      return `Not seen for ${lengths[seen.range].replace(/^hour$/, 'an hour')}`;
    case 'between':
      return `Seen ${edge(seen.from)} – ${edge(seen.to)}`;
  }
}

/** When what is listed was last seen. Unlike on other pages it is any time unless one says so: what is silent counts. */
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
