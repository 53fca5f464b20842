import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Params, place, setParams } from '../../state/address.ts';
import { again, useAnswer, useList } from '../../state/answers.ts';
import { filterQuery, shownChips } from '../../state/filters.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/chips.tsx';
import { Split } from '../../ui/detail.tsx';
import { number } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { ListLine } from '../../ui/list-line.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import { columns } from './columns.tsx';
import { CurrentScan } from './current.tsx';
import { OpenedScan } from './detail.tsx';
import { freshCount } from './fresh.ts';
import { defaults, type ScanForm } from './plan.ts';
import { ScanDialog } from './scan-dialog.tsx';
import { isOver, type LiveScans, type ScanRow, useLiveScans } from './scans.ts';
import './discovery.css';

const defaultSort = '-requested_at';
const refreshMs = 10_000;

/** Reads the form from the URL, so that links can prefill a scan. */
const formOf = (params: URLSearchParams): ScanForm => ({
  targets: (params.get('targets') ?? defaults.targets).split(',').join('\n'),
  ports: params.get('ports') ?? defaults.ports,
  rate: params.get('rate') ?? defaults.rate,
  engine: params.get('by') ?? defaults.engine,
});
const noForm: Params = {
  new: undefined,
  targets: undefined,
  ports: undefined,
  rate: undefined,
  by: undefined,
};

/** Starts scans, shows their progress and lists earlier scans. */
export default function Discovery() {
  const { params } = place.value;
  const live = useLiveScans();
  const sort = params.get('sort') ?? defaultSort;
  const filters = filterQuery('listScans');
  const list = useList('listScans', { query: { ...filters, sort } as never }, { still: true });
  const liveScans = live.scans.value;
  const rows = list.rows.map((row) => liveScans.get(row.id) ?? row);
  const openId = params.get('id') ?? undefined;
  const cursor = useSignal<string | undefined>(undefined);
  const current = useCurrent(live);
  const { hasMore, result } = list;
  // Only the service can apply the filters to a new scan.
  const fresh =
    Object.keys(filters).length > 0 || result.isPlaceholderData
      ? 0
      : freshCount(liveScans.values(), { rows, hasMore, fetchedAt: result.dataUpdatedAt });

  const refresh = () => list.refetch();
  const begin = () => setParams({ ...noForm, new: 1 });
  const scanAgain = ({ attributes: { targets, ports, rate, engine } }: ScanRow) =>
    setParams({ new: 1, targets: targets.join(','), ports, rate, by: engine });
  const shown = liveScans.get(openId ?? '') ?? rows.find(({ id }) => id === (openId ?? cursor.value));
  useKeys('Discovery', {
    ...(may('startScan') && {
      n: { title: 'New scan', run: begin },
      r: { title: 'Scan again', run: () => shown !== undefined && scanAgain(shown) },
    }),
    '.': { title: 'Load new', run: refresh },
  });
  return (
    <Page title="Discovery" bar={<FilterBar list="listScans" search="Search scans" />}>
      <Split
        detail={
          openId !== undefined && (
            <OpenedScan
              key={openId}
              id={openId}
              listed={rows.find(({ id }) => id === openId)}
              live={live}
              onRepeat={scanAgain}
            />
          )
        }
      >
        {current.scan !== undefined ? (
          <CurrentScan
            scan={current.scan}
            waiting={[...liveScans.values()].filter(({ attributes }) => attributes.status === 'queued').length}
            live={live}
            onRepeat={scanAgain}
          />
        ) : (
          current.error !== null && <Failure error={current.error} onRetry={current.refetch} />
        )}
        <ListLine
          list={list}
          of="scan"
          refresh={fresh > 0 && list.total !== undefined ? `${number(fresh)} new` : ''}
          onRefresh={refresh}
        >
          {may('startScan') && (
            <Button kind="primary" hint="n" onClick={begin}>
              New scan
            </Button>
          )}
        </ListLine>
        <Table
          label="Scans"
          list={{ ...list, rows }}
          columns={columns}
          {...inUrl(defaultSort)}
          cursor={cursor}
          empty={<NoScans onBegin={begin} />}
        />
      </Split>
      {params.has('new') && may('startScan') && (
        <ScanDialog
          key={place.value.params.get('targets') ?? ''}
          form={formOf(params)}
          onClose={() => setParams(noForm, { replace: true })}
          onStarted={(scan) => {
            live.put(scan);
            setParams({ ...noForm, id: undefined }, { replace: true });
            void again(['getScanStatus', 'listScans']);
          }}
        />
      )}
    </Page>
  );
}

/** Returns the running scan or, without a running scan, the last scan, in its latest version. */
function useCurrent(live: LiveScans) {
  const answer = useAnswer('getScanStatus', {}, { refreshMs, keepPrevious: true });
  const data = answer.data?.data;
  const fetched = data?.attributes.status === 'idle' ? undefined : (data as ScanRow | undefined);
  const seen = useRef<ScanRow | undefined>(undefined);
  // Without the live channel, responses still update the progress.
  useEffect(() => {
    if (fetched === undefined || fetched === seen.current) return;
    seen.current = fetched;
    live.put(fetched);
  }, [fetched]);
  const liveScans = live.scans.value;
  const running = [...liveScans.values()].find(({ attributes }) => attributes.status === 'running');
  const known = fetched && (liveScans.get(fetched.id) ?? fetched);
  const latest = [...liveScans.values(), ...(known ? [known] : [])].reduce<ScanRow | undefined>(
    (last, one) => (last === undefined || one.attributes.requested_at > last.attributes.requested_at ? one : last),
    undefined,
  );
  return {
    scan: running ?? (known !== undefined && !isOver(known.attributes) ? known : latest),
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
}

function NoScans({ onBegin }: { onBegin: () => void }) {
  const isFiltered = shownChips('listScans').length > 0 || place.value.params.has('q');
  if (isFiltered)
    return (
      <Empty title="No matching scans">
        <p class="row">
          <WithoutFilters list="listScans" />
        </p>
      </Empty>
    );
  return (
    <Empty title="No scans yet">
      <p>Sensors discover assets automatically. A scan finds further hosts and their open ports.</p>
      {may('startScan') && (
        <p class="row">
          <Button kind="primary" onClick={onBegin}>
            Scan a network
          </Button>
        </p>
      )}
    </Empty>
  );
}
