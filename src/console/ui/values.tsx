import type { ComponentChildren } from 'preact';
import type { ListId } from '../../client/client.ts';
import { asSearchText } from '../../contract/search-text.ts';
import type { Severity as SeverityName } from '../../contract/vocabulary.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { href, type Params } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { now } from '../state/clock.ts';
import { addFilter, filterFields, operatorsOf, setBound, setFilter } from '../state/filters.ts';
import { shownRange } from '../state/range.ts';
import { abbreviated, exact, instant, relative } from './format.ts';
import { Menu, type MenuItem } from './menu.tsx';
import { copy } from './toasts.tsx';
import './values.css';

/** A time as an age with the exact time on hover, or vice versa. */
export function Time({ at, as = 'relative' }: { at: string | number; as?: 'relative' | 'exact' }) {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  const iso = Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
  return as === 'relative' ? (
    <time dateTime={iso} title={exact(ms)}>
      {relative(ms, now.value)}
    </time>
  ) : (
    <time class="mono" dateTime={iso} title={`${relative(ms, now.value)}, ${exact(ms)}`}>
      {instant(ms)}
    </time>
  );
}

/** Shapes, because colour alone is not accessible. */
const shapes: Readonly<Record<SeverityName, string>> = {
  critical: '◆',
  high: '●',
  medium: '◐',
  low: '○',
  informational: '·',
};
const shortNames: Readonly<Partial<Record<SeverityName, string>>> = { informational: 'Info' };

export function Severity({ level, short = false }: { level: SeverityName; short?: boolean }) {
  const name = level.charAt(0).toUpperCase() + level.slice(1);
  return (
    <span class={`severity severity-${level}`} title={name}>
      <span class="severity-shape" aria-hidden="true">
        {shapes[level]}
      </span>
      {short ? (shortNames[level] ?? name) : name}
    </span>
  );
}

const riskShapes: Readonly<Record<string, SeverityName>> = {
  low: 'low',
  moderate: 'medium',
  high: 'high',
  critical: 'critical',
};

/** A risk level (`low moderate high critical`) and its score, 0 to 100. */
export function Risk({ level, score }: { level: string; score?: number }) {
  const like = riskShapes[level] ?? 'informational';
  return (
    <span class={`severity severity-${like}`}>
      <span class="severity-shape" aria-hidden="true">
        {shapes[like]}
      </span>
      {level.charAt(0).toUpperCase() + level.slice(1)}
      {score !== undefined && <span class="quiet mono"> {score}</span>}
    </span>
  );
}

/**
 * A hash, key fingerprint or signature, abbreviated unless `whole` is set. Hovering shows the full value, and clicking
 * copies it.
 */
export function Hash({
  value,
  what,
  length = 8,
  whole = false,
}: {
  value: Uint8Array | string;
  /** Name of the value, for screen readers and the message after copying. */
  what: string;
  length?: number;
  whole?: boolean;
}) {
  const text = typeof value === 'string' ? value : bytesToHex(value);
  const shown = whole ? text : abbreviated(text, length);
  return (
    <button
      type="button"
      class={whole ? 'hash hash-whole mono' : 'hash mono'}
      title={text}
      aria-label={`${what} ${shown}: copy`}
      onClick={(event) => {
        event.stopPropagation();
        copy(text, what);
      }}
    >
      {shown}
    </button>
  );
}

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
      const operators = operatorsOf(list, field);
      if (operators.includes('not')) filters.push({ title: 'Exclude value', run: () => addFilter(field, text, 'not') });
      if (operators.includes('min'))
        filters.push({ title: 'At least this value', run: () => setBound(field, 'min', text) });
      if (operators.includes('max'))
        filters.push({ title: 'At most this value', run: () => setBound(field, 'max', text) });
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

/** Shows an asset's name once it is loaded. */
export function AssetName({
  id,
  link = false,
}: {
  id: string;
  /** Whether the name is a link to the asset. */
  link?: boolean;
}) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { still: true, keepPrevious: false });
  const name = answer.data?.data.attributes.name;
  const shown = <bdi title={name ?? id}>{name ?? (answer.error ? `${abbreviated(id)} (not found)` : '…')}</bdi>;
  if (!link) return shown;
  return (
    <a class="asset-name" href={href('assets', { id })}>
      {shown}
    </a>
  );
}
