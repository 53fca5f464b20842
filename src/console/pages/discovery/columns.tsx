import { timeColumn } from '../../ui/attribute-columns.tsx';
import { duration, number, title } from '../../ui/format.ts';
import { type Column, column } from '../../ui/table.tsx';
import { Value } from '../../ui/values.tsx';
import type { Scan, ScanRow } from './scans.ts';

const shapes: Readonly<Record<Scan['status'], string>> = {
  queued: '◌',
  running: '▶',
  completed: '✓',
  failed: '✕',
  cancelled: '–',
};

/** The status as a symbol and a word. */
export function Status({ status }: { status: Scan['status'] }) {
  return (
    <span class={`scan-status scan-status-${status}`}>
      <span aria-hidden="true">{shapes[status]} </span>
      {title(status)}
    </span>
  );
}

/** Returns how long the scan has been running, or took in total, in milliseconds; undefined if it never started. */
export const tookMs = ({ started_at, finished_at }: Scan, nowMs: number): number | undefined =>
  started_at === undefined
    ? undefined
    : Math.max(0, (finished_at === undefined ? nowMs : Date.parse(finished_at)) - Date.parse(started_at));

export const columns: readonly Column<ScanRow>[] = [
  column('status', 'Status', { width: '96px', sort: 'status' }, ({ attributes: { status } }) => (
    <Status status={status} />
  )),
  column('targets', 'Targets', { width: 'minmax(96px, 1.4fr)' }, ({ attributes: { targets } }) => (
    <bdi class="mono" title={targets.join(', ')}>
      {targets.join(', ')}
    </bdi>
  )),
  column('ports', 'Ports', { width: 'minmax(64px, 0.8fr)', from: 560 }, ({ attributes: { ports } }) => (
    <bdi class="mono" title={ports}>
      {ports}
    </bdi>
  )),
  column('up', 'Hosts up', { width: '72px', end: true, from: 460 }, ({ attributes: { result, progress } }) =>
    result === undefined ? (
      <span class="quiet">–</span>
    ) : (
      <span title={`of ${number(progress.hosts_total)} scanned`}>{number(result.hosts_up)}</span>
    ),
  ),
  column('open', 'Open ports', { width: '76px', end: true, from: 640 }, ({ attributes: { result } }) =>
    result === undefined ? <span class="quiet">–</span> : number(result.services_found),
  ),
  column('new', 'New assets', { width: '76px', end: true, from: 740 }, ({ attributes: { result } }) =>
    result === undefined ? <span class="quiet">–</span> : number(result.assets_created),
  ),
  column('engine', 'Engine', { width: '64px', from: 960, sort: 'engine' }, ({ attributes: { engine } }) => engine),
  column(
    'by',
    'Started by',
    { width: 'minmax(64px, 0.5fr)', from: 840, sort: 'requested_by' },
    ({ attributes: { requested_by } }) => (
      <Value value={requested_by} list="listScans" field="requested_by" mono={false} />
    ),
  ),
  column('took', 'Duration', { width: '88px', end: true, from: 700 }, ({ attributes }) => {
    const took = attributes.finished_at === undefined ? undefined : tookMs(attributes, 0);
    return took === undefined ? <span class="quiet">–</span> : duration(took);
  }),
  timeColumn('when', 'Requested', 'requested_at', { width: '84px' }),
];
