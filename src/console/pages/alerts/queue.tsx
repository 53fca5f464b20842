import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { place, setParams } from '../../state/address.ts';
import { useAnswer, useList } from '../../state/answers.ts';
import { useStillRange } from '../../state/still-range.ts';
import { AbsentItem, Split } from '../../ui/detail.tsx';
import { inUrl } from '../../ui/in-url.ts';
import { useMarking } from '../../ui/marking.ts';
import { Table } from '../../ui/table.tsx';
import { columns, rowClass } from './columns.tsx';
import { AlertDetail } from './detail.tsx';
import { useFeed } from './feed.ts';
import { AlertHistogram } from './histogram.tsx';
import { NoAlerts } from './no-alerts.tsx';
import type { Counts } from './page.tsx';
import { type AlertRow, type Filters, stillMatches, type View } from './question.ts';
import { QueueLine } from './queue-line.tsx';
import { useTriage } from './triage.tsx';

/**
 * The list of alerts, with the open alert beside it. The order of the list is fixed when it is fetched, so that rows do
 * not move under the cursor: alerts are updated in place, and new alerts are counted until the user loads them.
 */
export function Queue({
  filters,
  sort,
  view,
  counts,
  hasChips,
}: {
  filters: Filters;
  sort: string;
  view: View;
  counts: Counts;
  hasChips: boolean;
}) {
  const [everything, setEverything] = useState(false);
  const cursor = useSignal<string | undefined>(undefined);
  const proof = useSignal(0);
  const { range: bounds, key, move } = useStillRange([filters, sort]);
  const at = useMemo(() => new Date().toISOString(), [key]);
  const list = useList('listAlerts', { query: { ...filters, ...bounds, sort } as never }, { still: true });
  const marking = useMarking(list.rows, key);
  const byId = useMemo(() => new Map(list.rows.map((row) => [row.id, row])), [list.rows]);
  const shown = useMemo(() => new Set(byId.keys()), [byId]);
  const feed = useFeed(filters, bounds, shown);
  useEffect(() => setEverything(false), [marking.ids]);

  const refresh = () => {
    feed.clear();
    marking.clear();
    document.querySelector('.alert-queue .table')?.scrollTo(0, 0);
    if (!move()) list.refetch();
  };
  const openId = place.value.params.get('id') ?? undefined;
  const open = useOpened(openId, byId, list.isLoading);
  const marked = useMemo(() => list.rows.filter(({ id }) => marking.ids.has(id)), [list.rows, marking.ids]);
  const current = byId.get(cursor.value ?? openId ?? '') ?? open.alert;
  const triage = useTriage({
    rows: list.rows,
    marked,
    current: openId !== undefined && open.alert !== undefined ? open.alert : current,
    ...(everything && {
      everything: { filter: { ...filters, ...bounds, to: bounds.to ?? at }, total: list.total ?? 0 },
    }),
    onMove: (id) => {
      cursor.value = id;
      if (openId !== undefined) setParams({ id }, { replace: true });
    },
    onDone: marking.clear,
    onUnmark: marking.clear,
    onProof: (id) => {
      setParams({ id }, { replace: openId !== undefined });
      proof.value++;
    },
    onRefresh: refresh,
  });
  const done = useMemo(
    () => list.rows.filter(({ attributes }) => !stillMatches(attributes, filters)).length,
    [list.rows, key],
  );
  return (
    <>
      <Split
        detail={
          openId === undefined ? undefined : open.alert !== undefined ? (
            <AlertDetail alert={open.alert} triage={triage.single} proof={proof} />
          ) : (
            <AbsentItem of="alert" error={open.error} onRetry={open.refetch}>
              The link may be incomplete or belong to another server: <bdi class="mono">{openId}</bdi>
            </AbsentItem>
          )
        }
      >
        <div class="alert-queue">
          <AlertHistogram filters={filters} />
          <QueueLine
            list={list}
            fresh={feed.fresh.value.size}
            missed={feed.missed.value}
            done={done}
            marked={marked.length}
            everything={everything}
            triage={triage}
            onEverything={() => setEverything(true)}
            onNone={marking.clear}
            onRefresh={refresh}
          />
          <Table
            label="Alerts"
            list={list}
            columns={columns}
            {...inUrl()}
            cursor={cursor}
            {...marking.table}
            sort={sort}
            onSort={(by) => setParams({ sort: by })}
            rowClass={rowClass}
            empty={<NoAlerts view={view} counts={counts} hasChips={hasChips} />}
          />
        </div>
      </Split>
      {triage.dialog}
    </>
  );
}

/** Returns the alert in the URL: from the list, or fetched separately if it is not in the list. */
function useOpened(id: string | undefined, rows: ReadonlyMap<string, AlertRow>, isLoading: boolean) {
  const listed = id === undefined ? undefined : rows.get(id);
  const answer = useAnswer(
    'getAlert',
    { params: { alert_id: id ?? '' } },
    { enabled: id !== undefined && listed === undefined && !isLoading, keepPrevious: false },
  );
  return {
    alert: id === undefined ? undefined : (listed ?? answer.data?.data),
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
}
