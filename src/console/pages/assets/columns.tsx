import { timeColumn } from '../../ui/attribute-columns.tsx';
import { number, title } from '../../ui/format.ts';
import { type Column, column } from '../../ui/table.tsx';
import { Address, Risk } from '../../ui/values.tsx';
import type { Asset, AssetRow } from './question.ts';
import './columns.css';

const shapes: Readonly<Record<Asset['state'], string>> = { staged: '◌', managed: '●', retired: '–' };

/** The state as a symbol and a word. */
export function State({ state }: { state: Asset['state'] }) {
  return (
    <span class={`asset-state asset-state-${state}`}>
      <span aria-hidden="true">{shapes[state]} </span>
      {title(state)}
    </span>
  );
}

/** The criticality as bars and a word. */
export function Criticality({ level }: { level: Asset['criticality'] }) {
  const height = { low: 1, medium: 2, high: 3, critical: 4 }[level];
  return (
    <span class="asset-criticality">
      <svg width="15" height="11" aria-hidden="true">
        {[1, 2, 3, 4].map((bar) => (
          <rect
            key={bar}
            x={(bar - 1) * 4}
            y={11 - bar * 2.75}
            width="3"
            height={bar * 2.75}
            fill={bar <= height ? 'currentcolor' : 'var(--line-strong)'}
          />
        ))}
      </svg>
      {title(level)}
    </span>
  );
}

/** Columns of the inventory; `from` is the minimum table width in pixels at which a column is shown. */
export const columns: readonly Column<AssetRow>[] = [
  column('name', 'Asset', { width: 'minmax(120px, 1.4fr)', sort: 'name' }, ({ attributes: { name, hostnames } }) => (
    <>
      <bdi title={name}>{name}</bdi>
      {hostnames[0] !== undefined && hostnames[0] !== name && (
        <bdi class="quiet" title={hostnames.join(', ')}>
          {' '}
          {hostnames[0]}
        </bdi>
      )}
    </>
  )),
  column(
    'ip',
    'Addresses',
    { width: 'minmax(116px, 1fr)', from: 600, sort: 'ip' },
    ({ attributes: { ip_addresses } }) => <Addresses ips={ip_addresses} />,
  ),
  column('kind', 'Kind', { width: '84px', from: 980, sort: 'kind' }, ({ attributes: { kind } }) =>
    kind === 'unknown' ? <span class="quiet">Unknown</span> : title(kind === 'iot' ? 'IoT' : kind),
  ),
  column('state', 'State', { width: '88px', from: 700, sort: 'state' }, ({ attributes: { state } }) => (
    <State state={state} />
  )),
  column(
    'criticality',
    'Criticality',
    { width: '84px', from: 880, sort: 'criticality' },
    ({ attributes: { criticality } }) => <Criticality level={criticality} />,
  ),
  column('risk', 'Risk', { width: '108px', sort: 'risk_score' }, ({ attributes: { risk_level, risk_score } }) =>
    risk_score === 0 ? <span class="quiet">none</span> : <Risk level={risk_level} score={risk_score} />,
  ),
  column(
    'alerts',
    'Alerts',
    { width: '48px', end: true, from: 460, sort: 'open_alerts' },
    ({ attributes: { open_alerts } }) => <Count of={open_alerts} />,
  ),
  column(
    'services',
    'Services',
    { width: '60px', end: true, from: 780, sort: 'service_count' },
    ({ attributes: { service_count } }) => <Count of={service_count} />,
  ),
  column(
    'owner',
    'Owner',
    { width: 'minmax(64px, 0.5fr)', from: 1060, sort: 'owner' },
    ({ attributes: { owner } }) => owner !== undefined && <bdi title={owner}>{owner}</bdi>,
  ),
  timeColumn('seen', 'Last seen', 'last_seen', { width: '80px', absent: 'never' }),
];

function Count({ of }: { of: number }) {
  return <span class={of === 0 ? 'quiet' : ''}>{number(of)}</span>;
}

function Addresses({ ips }: { ips: readonly string[] }) {
  const [first, ...more] = ips;
  if (first === undefined) return <span class="quiet">none</span>;
  return (
    <span class="asset-addresses">
      <Address ip={first} list="listAssets" />
      {more.length > 0 && (
        <span class="quiet" title={more.join(', ')}>
          +{more.length}
        </span>
      )}
    </span>
  );
}

export const rowClass = ({ attributes: { state } }: AssetRow): string => (state === 'retired' ? 'asset-retired' : '');

/** Sort orders of the list, for widths at which column headers are hidden. */
export const sorts: readonly { readonly by: string; readonly title: string }[] = [
  { by: '-last_seen', title: 'Last seen' },
  { by: '-first_seen', title: 'Newest first' },
  { by: 'last_seen', title: 'Least recently seen' },
  { by: '-risk_score', title: 'Highest risk first' },
  { by: '-open_alerts', title: 'Most alerts first' },
  { by: '-criticality', title: 'Most critical first' },
  { by: '-service_count', title: 'Most services first' },
  { by: 'name', title: 'By name' },
  { by: 'ip', title: 'By address' },
  { by: 'kind', title: 'By kind' },
  { by: 'owner', title: 'By owner' },
  { by: 'vendor', title: 'By vendor' },
  { by: 'os', title: 'By operating system' },
];
