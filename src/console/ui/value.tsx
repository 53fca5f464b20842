import type { ComponentChildren } from 'preact';
import type { ListId } from '../../client/client.ts';
import { asSearchText } from '../../contract/search-text.ts';
import { href, type Params } from '../state/address.ts';
import { addFilter, canNegate, filterFields, setFilter } from '../state/filters.ts';
import { shownRange } from '../state/range.ts';
import { copy } from './copy.ts';
import { Menu, type MenuItem } from './menu.tsx';
import './value.css';

/** The time that is looked at goes along to where one goes from here. */
export function shownTime(): Params {
  const { name, from, to } = shownRange();
  return name === 'custom' ? { from, to } : { range: name === '24h' ? undefined : name };
}

/** Where a value leads: every page that can be asked about it. */
function pivots(kind: PivotKind, value: string): MenuItem[] {
  const time = shownTime();
  switch (kind) {
    case 'address':
      return [
        { title: 'Network events of it', href: href('events', { ...time, ip: value }) },
        { title: 'DNS events of it', href: href('events', { ...time, table: 'dns', ip: value }) },
        { title: 'Alerts about it', href: href('alerts', { ...time, ip: value }) },
        { title: 'Its asset', href: href('assets', { ip: value }) },
      ];
    case 'domain':
      return [
        {
          title: 'DNS events that ask for it',
          href: href('events', { ...time, table: 'dns', q: asSearchText(value) }),
        },
        { title: 'Alerts about it', href: href('alerts', { ...time, q: asSearchText(value) }) },
      ];
    case 'connection':
      return [
        { title: 'Network events of it', href: href('events', { range: 'all', connection_id: value }) },
        {
          title: 'DNS events of it',
          href: href('events', { range: 'all', table: 'dns', connection_id: value }),
        },
      ];
    case 'flow':
      return [
        { title: 'Network events of it', href: href('events', { range: 'all', community_id: value }) },
        {
          title: 'DNS events of it',
          href: href('events', { range: 'all', table: 'dns', community_id: value }),
        },
      ];
    case 'port':
      return [
        { title: 'Network events to it', href: href('events', { ...time, dst_port: value }) },
        { title: 'Services on it', href: href('assets', { view: 'services', port: value }) },
      ];
    case 'rule':
      return [
        { title: 'Alerts of it', href: href('alerts', { ...time, rule_id: value }) },
        { title: 'The rule', href: href('administration', { view: 'rules', id: value }) },
      ];
  }
}
export type PivotKind = 'address' | 'domain' | 'connection' | 'flow' | 'port' | 'rule';

/**
 * A value out of the data: hostile text, shown as text, which offers what can be done with it. `field` is the filter of
 * `list` (the one on the page) that it would be a value of.
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
  /** How it is written, where that is not as it is: `1.2 KiB` of 1229. */
  children?: ComponentChildren;
}) {
  const text = String(value);
  const items = (): (MenuItem | 'line')[] => {
    const filters: MenuItem[] = [];
    const known = list && filterFields(list).find(({ name }) => name === field);
    if (list !== undefined && field !== undefined && known !== undefined) {
      filters.push({ title: 'Only this', run: () => setFilter(field, text) });
      if (known.takesMany) filters.push({ title: 'This too', run: () => addFilter(field, text) });
      if (canNegate(list, field))
        filters.push({ title: 'Not this', run: () => addFilter(field, text, { not: true }) });
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

/** An address, with its port where there is one. */
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
