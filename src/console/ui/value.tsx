import type { ComponentChildren } from 'preact';
import type { ListId } from '../../client/client.ts';
import { asSearchText } from '../../contract/search-text.ts';
import { href, type Params } from '../state/address.ts';
import { addFilter, canNegate, filterFields, setFilter } from '../state/filters.ts';
import { shownRange } from '../state/range.ts';
import { Menu, type MenuItem } from './menu.tsx';
import { copy } from './toasts.tsx';
import './value.css';

/** Returns the parameters of the current time range, so that links can keep it. */
export function shownTime(): Params {
  const { name, from, to } = shownRange();
  return name === 'custom' ? { from, to } : { range: name === '24h' ? undefined : name };
}

/** Returns links from a value to the pages about it. */
function pivots(kind: PivotKind, value: string): MenuItem[] {
  const time = shownTime();
  switch (kind) {
    case 'address':
      return [
        { title: 'Network events', href: href('events', { ...time, ip: value }) },
        { title: 'DNS events', href: href('events', { ...time, table: 'dns', ip: value }) },
        { title: 'Alerts', href: href('alerts', { ...time, ip: value }) },
        { title: 'Asset', href: href('assets', { ip: value }) },
      ];
    case 'domain':
      return [
        {
          title: 'DNS queries',
          href: href('events', { ...time, table: 'dns', q: asSearchText(value) }),
        },
        { title: 'Alerts', href: href('alerts', { ...time, q: asSearchText(value) }) },
      ];
    case 'connection':
      return [
        { title: 'Network events', href: href('events', { range: 'all', connection_id: value }) },
        {
          title: 'DNS events',
          href: href('events', { range: 'all', table: 'dns', connection_id: value }),
        },
      ];
    case 'flow':
      return [
        { title: 'Network events', href: href('events', { range: 'all', community_id: value }) },
        {
          title: 'DNS events',
          href: href('events', { range: 'all', table: 'dns', community_id: value }),
        },
      ];
    case 'port':
      return [
        { title: 'Network events to this port', href: href('events', { ...time, dst_port: value }) },
        { title: 'Services on this port', href: href('assets', { view: 'services', port: value }) },
      ];
    case 'rule':
      return [
        { title: 'Alerts', href: href('alerts', { ...time, rule_id: value }) },
        { title: 'Rule', href: href('administration', { view: 'rules', id: value }) },
      ];
  }
}
export type PivotKind = 'address' | 'domain' | 'connection' | 'flow' | 'port' | 'rule';

/**
 * A value from the data, which may be hostile and is rendered as text, with a menu of actions. `field` is the
 * filter of `list` (the list on the page) that takes the value.
 */
export function Value({
  value,
  list,
  field,
  pivot,
  mono = true,
  children,
}: {
  value: string | number;
  list?: ListId;
  field?: string;
  pivot?: PivotKind;
  mono?: boolean;
  /** The formatted value, if it differs from the raw value: `1.2 KiB` for 1229. */
  children?: ComponentChildren;
}) {
  const text = String(value);
  const items = (): (MenuItem | 'line')[] => {
    const filters: MenuItem[] = [];
    const known = list && filterFields(list).find(({ name }) => name === field);
    if (list !== undefined && field !== undefined && known !== undefined) {
      filters.push({ title: 'Filter for value', run: () => setFilter(field, text) });
      if (known.takesMany) filters.push({ title: 'Add to filter', run: () => addFilter(field, text) });
      if (canNegate(list, field))
        filters.push({ title: 'Exclude value', run: () => addFilter(field, text, { not: true }) });
    }
    const ways = pivot === undefined ? [] : pivots(pivot, text);
    return [
      ...filters,
      ...(filters.length > 0 && ways.length > 0 ? (['line'] as const) : []),
      ...ways,
      'line',
      { title: 'Copy', run: () => copy(text, 'Value') },
    ];
  };
  return (
    <Menu items={items} class={mono ? 'value mono' : 'value'}>
      <bdi title={text}>{children ?? text}</bdi>
    </Menu>
  );
}

/** An address, with its port if given. */
export function Address({
  ip,
  port,
  list,
  field = 'ip',
}: {
  ip: string;
  port?: number | undefined;
  list?: ListId;
  field?: string;
}) {
  return (
    <span class="address">
      <Value value={ip} field={field} pivot="address" {...(list && { list })} />
      {port !== undefined && <span class="quiet mono">:{port}</span>}
    </span>
  );
}
