import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Params, place, setParams } from '../../state/address.ts';
import { again, useAnswer, useList } from '../../state/answers.ts';
import { filterQuery, shownChips } from '../../state/filters.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/chips.tsx';
import { number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Split } from '../../ui/split.tsx';
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

/** The form as the address has it, so that a scan can be proposed by a link. */
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

/** Asking the network what is on it: beginning a scan, watching it, and what earlier ones found. */
export default function Discovery() {
  const { params } = place.value;
  const live = useLiveScans();
  const sort = params.get('sort') ?? defaultSort;
  const filters = filterQuery('listScans');
  const list = useList('listScans', { query: { ...filters, sort } as never }, { still: true });
  const told = live.scans.value;
  const rows = list.rows.map((row) => told.get(row.id) ?? row);
  const openId = params.get('id') ?? undefined;
  const cursor = useSignal<string | undefined>(undefined);
  const current = useCurrent(live);
  const { hasMore, result } = list;
  // Whether filters would leave it out, only the service knows.
  const fresh =
    Object.keys(filters).length > 0 || result.isPlaceholderData
      ? 0
      : freshCount(told.values(), { rows, hasMore, askedAt: result.dataUpdatedAt });

  const refresh = () => list.refetch();
  const begin = () => setParams({ ...noForm, new: 1 });
  const scanAgain = ({ attributes: { targets, ports, rate, engine } }: ScanRow) =>
    setParams({ new: 1, targets: targets.join(','), ports, rate, by: engine });
  const shown = told.get(openId ?? '') ?? rows.find(({ id }) => id === (openId ?? cursor.value));
  useKeys('Discovery', {
    ...(may('startScan') && {
      n: { title: 'New scan', run: begin },
      r: { title: 'Scan again', run: () => shown !== undefined && scanAgain(shown) },
    }),
    '.': { title: 'Show what is new', run: refresh },
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
              onAgain={scanAgain}
            />
          )
        }
      >
        {current.scan !== undefined ? (
          <CurrentScan
            scan={current.scan}
            waiting={[...told.values()].filter(({ attributes }) => attributes.status === 'queued').length}
            live={live}
            onAgain={scanAgain}
          />
        ) : (
          current.error !== null && <Failure error={current.error} onRetry={current.refetch} />
        )}
        <div class="scan-line">
          <span class="quiet" role="status">
            {list.total === undefined ? '…' : `${number(list.total)} ${list.total === 1 ? 'scan' : 'scans'}`}
          </span>
          <span role="status" aria-live="polite">
            {fresh > 0 && list.total !== undefined && (
              <Button kind="plain" hint="." onClick={refresh}>
                {number(fresh)} new
              </Button>
            )}
          </span>
          {may('startScan') && (
            <Button kind="primary" hint="n" onClick={begin}>
              New scan
            </Button>
          )}
        </div>
        <Table
          label="Scans"
          list={{ ...list, rows }}
          columns={columns}
          keyOf={({ id }) => id}
          open={openId}
          onOpen={({ id }, options) => setParams({ id }, options)}
          cursor={cursor}
          sort={sort}
          onSort={(by) => setParams({ sort: by === defaultSort ? undefined : by })}
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

/** The scan that runs, else the last one, as it was told of last. */
function useCurrent(live: LiveScans) {
  const answer = useAnswer('getScanStatus', {}, { refreshMs, keepPrevious: true });
  const data = answer.data?.data;
  const asked = data?.attributes.status === 'idle' ? undefined : (data as ScanRow | undefined);
  const seen = useRef<ScanRow | undefined>(undefined);
  // Where nothing is told live, what was asked for shows how far it is.
  useEffect(() => {
    if (asked === undefined || asked === seen.current) return;
    seen.current = asked;
    live.put(asked);
  }, [asked]);
  const told = live.scans.value;
  const running = [...told.values()].find(({ attributes }) => attributes.status === 'running');
  const known = asked && (told.get(asked.id) ?? asked);
  const latest = [...told.values(), ...(known ? [known] : [])].reduce<ScanRow | undefined>(
    (last, one) =>
      last === undefined || one.attributes.requested_at > last.attributes.requested_at ? one : last,
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
      <Empty title="No scan matches.">
        <p class="row">
          <WithoutFilters list="listScans" />
        </p>
      </Empty>
    );
  return (
    <Empty title="Nothing was scanned yet.">
      <p>
        What sensors see makes assets known by itself. A scan asks the network what else is there, and what
        answers on which port.
      </p>
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
