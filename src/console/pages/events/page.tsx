import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { href, place, setParams } from '../../state/address.ts';
import { again, useAnswer, useList } from '../../state/answers.ts';
import { filterQuery } from '../../state/filters.ts';
import { useKeys } from '../../state/keys.ts';
import { ranges, shownRange } from '../../state/range.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/chips.tsx';
import { Split } from '../../ui/detail.tsx';
import { counted, duration, number } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Rows, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ColumnChooser, rememberedColumns } from './column-chooser.tsx';
import { chosenColumns } from './column-names.ts';
import { columnsOf } from './columns.tsx';
import { EventDetail } from './detail.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { EventHistogram } from './histogram.tsx';
import { LiveTable } from './live.tsx';
import { type Question, shownTable, useQuestion } from './question.ts';
import { type EventRow, type TableName, tables } from './tables.ts';
import { countedFields, firstField, ValuesPanel } from './values.tsx';
import { widerRange } from './zoom.ts';
import './events.css';

/** Interval of the check for new events, in milliseconds. */
const newEventsMs = 10_000;

/** The explorer of network and DNS events. */
export default function Events() {
  const table = shownTable();
  return (
    <Page
      title="Events"
      range="any"
      bar={<FilterBar key={table} list={tables[table].list} search={tables[table].search} />}
    >
      <div class="events">
        <Explorer key={table} table={table} />
      </div>
    </Page>
  );
}

function Explorer({ table }: { table: TableName }) {
  const { params } = place.value;
  const { list: operation, columnsIn } = tables[table];
  const live = params.get('live') === '1';
  const sort = params.get('sort') === 'timestamp' ? 'timestamp' : '-timestamp';
  const open = params.get('id') ?? undefined;
  const choosing = useSignal(false);
  const exporting = useSignal(false);
  const { question, again: refreshQuery } = useQuestion(table);
  const query = { ...question.query, sort } as never;
  const list = useList(operation, { query }, { still: true, enabled: !live });
  const rows = list as unknown as Rows<EventRow>;
  const other = table === 'dns' ? 'network' : 'dns';
  const otherTotal = useOtherTotal(other, question, live);
  const ids = chosenColumns(table, params.get(columnsIn));
  const columnsKey = ids.join();
  const { columns, minWidth } = useMemo(() => columnsOf(table, ids, { plain: false }), [table, columnsKey]);

  // The remembered columns are put into the URL, so that a shared link shows the same columns.
  useEffect(() => {
    const remembered = rememberedColumns(table);
    if (remembered !== undefined && !place.peek().params.has(columnsIn))
      setParams({ [columnsIn]: remembered }, { replace: true });
  }, [table]);

  const refresh = () => {
    if (refreshQuery()) return;
    list.refetch();
    void again([tables[table].histogram, tables[other].list]);
  };
  const goLive = () => {
    setParams({ live: live ? undefined : 1 }, { replace: true });
    // The list was loaded before the live events, so it is refreshed.
    if (live) refresh();
  };
  const counted = params.get('values') ?? undefined;
  const showValues = () =>
    setParams({ values: counted === undefined ? firstField[table] : undefined, id: undefined }, { replace: true });
  useKeys('Events', {
    t: { title: live ? 'Stop live tail' : 'Start live tail', run: goLive },
    '.': { title: 'Load new', run: refresh },
    c: { title: 'Choose columns', run: () => (choosing.value = true) },
    e: { title: 'Export', run: () => (exporting.value = true) },
    v: { title: 'Most frequent values', run: showValues },
    '-': { title: 'Zoom out', run: () => setParams(widerRange(shownRange(), ranges, Date.now())) },
  });

  const onOpen = ({ id }: EventRow, options: { replace: boolean }) => setParams({ id }, options);
  const row = live ? undefined : rows.rows.find(({ id }) => id === open);
  return (
    <Split
      detail={
        open !== undefined ? (
          <EventDetail table={table} id={open} row={row} onClose={() => setParams({ id: undefined })} />
        ) : counted !== undefined && countedFields(table).includes(counted) ? (
          <ValuesPanel table={table} question={question} by={counted} onClose={showValues} />
        ) : undefined
      }
    >
      <div class="events-tools">
        <Tabs
          label="Table"
          name="table"
          tabs={(Object.keys(tables) as TableName[]).map((value) => ({
            value,
            title: titleOf(value, value === other ? otherTotal : live ? undefined : list.total),
          }))}
        />
        <div class="events-actions">
          <Button hint="t" aria-pressed={live} onClick={goLive}>
            {live ? '■ Stop live' : '▶ Live'}
          </Button>
          <Button hint="v" aria-pressed={counted !== undefined} onClick={showValues}>
            Values
          </Button>
          <Button hint="c" onClick={() => (choosing.value = true)}>
            Columns
          </Button>
          <Button hint="e" onClick={() => (exporting.value = true)}>
            Export
          </Button>
        </div>
      </div>
      <EventHistogram table={table} question={question} {...(live && { refreshMs: newEventsMs })} />
      {live ? (
        <LiveTable table={table} question={question} columns={ids} open={open} onOpen={onOpen} />
      ) : (
        <>
          <Count table={table} list={list} query={query} onRefresh={refresh} />
          <Table
            key={question.key}
            label={`${tables[table].title} events`}
            list={rows}
            columns={columns}
            {...inUrl('-timestamp')}
            {...(minWidth !== undefined && { minWidth })}
            empty={<Nothing table={table} isFiltered={Object.keys(question.filters).length > 0} />}
          />
        </>
      )}
      {choosing.value && <ColumnChooser table={table} chosen={ids} onClose={() => (choosing.value = false)} />}
      {exporting.value && (
        <ExportDialog
          table={table}
          question={question}
          sort={sort}
          total={list.total}
          onClose={() => (exporting.value = false)}
        />
      )}
    </Split>
  );
}

const titleOf = (table: TableName, total: number | undefined): string =>
  total === undefined ? tables[table].title : `${tables[table].title} ${number(total)}`;

/**
 * Counts the matching events of the other table; undefined in the live view, without permission, or if the other table
 * lacks one of the filters.
 */
function useOtherTotal(other: TableName, { filters, query }: Question, live: boolean): number | undefined {
  const { list } = tables[other];
  const { from, to } = query;
  const others = filterQuery(list);
  const asked = { ...others, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const applies = !live && may(list) && Object.keys(filters).every((name) => Object.hasOwn(others, name));
  const answer = useAnswer(
    list,
    { query: { ...asked, per_page: 1 } as never },
    { still: true, enabled: applies, keepPrevious: false },
  );
  return applies ? answer.data?.pagination.total : undefined;
}

interface FirstPage {
  readonly meta?: {
    readonly query_time_ms?: number;
    readonly damaged_events?: readonly { readonly events: number }[];
  };
}

/** The number of matches, the query time, and the numbers of damaged and new events. */
function Count({
  table,
  list,
  query,
  onRefresh,
}: {
  table: TableName;
  list: ReturnType<typeof useList>;
  query: never;
  onRefresh: () => void;
}) {
  const { list: operation, one } = tables[table];
  const follows = shownRange().to === undefined;
  const latest = useAnswer(
    operation,
    { query: { ...(query as object), per_page: 1 } as never },
    { refreshMs: newEventsMs, enabled: follows && list.total !== undefined, keepPrevious: false },
  );
  if (list.total === undefined) return <p class="events-count quiet">{list.error === null ? '…' : ' '}</p>;
  const meta = (list.result.data as { pages: FirstPage[] } | undefined)?.pages[0]?.meta;
  const took = meta?.query_time_ms;
  const damaged = meta?.damaged_events?.reduce((sum, { events }) => sum + events, 0) ?? 0;
  const fresh = latest.data === undefined ? 0 : latest.data.pagination.total - list.total;
  return (
    <p class="events-count quiet">
      <span role="status">{counted(list.total, one)}</span>
      {took !== undefined && <span class="mono"> · {duration(took)}</span>}
      {damaged > 0 && (
        <a class="events-damaged" href={href('status')}>
          {' '}
          · <span aria-hidden="true">▲ </span>
          {counted(damaged, 'damaged event')} excluded
        </a>
      )}
      {list.result.isPlaceholderData && <span> · loading…</span>}
      {fresh > 0 && !list.result.isPlaceholderData && (
        <Button kind="plain" hint="." onClick={onRefresh}>
          <span class="events-new">{number(fresh)} new</span>
        </Button>
      )}
    </p>
  );
}

function Nothing({ table, isFiltered }: { table: TableName; isFiltered: boolean }) {
  const everything = useAnswer('getStatus', {});
  const store = everything.data?.data.attributes.store;
  const stored = store && (table === 'dns' ? store.dns_events : store.network_events);
  return (
    <Empty title={`No ${isFiltered ? 'matching ' : ''}${tables[table].one}s in this range`}>
      {stored !== undefined &&
        (stored === 0
          ? 'No events stored yet.'
          : `${number(stored)} stored in total. Try a wider range or fewer filters.`)}
      <div class="row">
        {shownRange().name !== 'all' && (
          <Button onClick={() => setParams({ range: 'all', from: undefined, to: undefined })}>Search all time</Button>
        )}
      </div>
    </Empty>
  );
}
