import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { href, place, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { shownChips } from '../../state/filters.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Split } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { useMarking } from '../../ui/marking.ts';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import { useActions } from './actions.tsx';
import { columns, rowClass } from './columns.tsx';
import { OpenedAsset } from './detail.tsx';
import { AssetListLine } from './list-line.tsx';
import { type AssetRow, defaultSort, onlyAddress, seenParams, shownSeen } from './question.ts';
import { QuickViews } from './quick-views.tsx';
import { useStillList } from './still-list.ts';

/** The inventory, with the open asset beside it. Rows do not move until the user refreshes the list. */
export function AssetList() {
  const { params } = place.value;
  const { chips, seen, which, filters, list, refresh: reload } = useStillList('listAssets');
  const marking = useMarking(list.rows, which);
  const cursor = useSignal<string | undefined>(undefined);
  const openId = params.get('id') ?? undefined;
  useOpenOnly(list, onlyAddress(params));

  const refresh = () => {
    marking.clear();
    reload();
  };
  const actions = useActions({
    rows: list.rows,
    marked: list.rows.filter(({ id }) => marking.ids.has(id)),
    currentId: openId ?? cursor.value,
    onUnmark: marking.only,
    onRefresh: refresh,
  });
  return (
    <>
      <Split
        detail={
          openId !== undefined && (
            <OpenedAsset
              key={openId}
              id={openId}
              listed={list.rows.find(({ id }) => id === openId)}
              actions={actions.single}
            />
          )
        }
      >
        <QuickViews chips={chips} seen={seen} onCreate={actions.create} />
        <AssetListLine list={list} filters={filters} marked={marking.ids.size} actions={actions} onRefresh={refresh} />
        <Table
          label="Assets"
          list={list}
          columns={columns}
          {...inUrl(defaultSort)}
          cursor={cursor}
          {...marking.table}
          rowClass={rowClass}
          empty={<NoAssets onCreate={actions.create} />}
        />
      </Split>
      {actions.dialog}
    </>
  );
}

/** Opens the asset of an address filter, once per address, if the filter matches exactly one asset. */
function useOpenOnly(
  list: {
    readonly rows: readonly AssetRow[];
    readonly total: number | undefined;
    readonly result: { readonly isPlaceholderData: boolean };
  },
  ip: string | undefined,
): void {
  const opened = useRef<string | undefined>(undefined);
  const only = list.total === 1 && !list.result.isPlaceholderData ? list.rows[0]?.id : undefined;
  useEffect(() => {
    if (ip === undefined) opened.current = undefined;
    if (ip === undefined || only === undefined || opened.current === ip) return;
    opened.current = ip;
    if (!place.peek().params.has('id')) setParams({ id: only }, { replace: true });
  }, [ip, only]);
}

/** Explains why the list is empty. */
function NoAssets({ onCreate }: { onCreate: () => void }) {
  const { params } = place.value;
  const everything = useAnswer('listAssets', { query: { per_page: 1 } });
  const known = everything.data?.pagination.total;
  const ip = onlyAddress(params);
  const isFiltered = shownChips('listAssets').length > 0 || params.has('q') || shownSeen(params).kind !== 'any';
  if (known === 0)
    return (
      <Empty title="No assets yet">
        <p>Hosts in the home networks become assets when sensors report events about them or a scan finds them.</p>
        <p class="row">
          {may('startScan') && <a href={href('discovery', { new: 1 })}>Scan a network</a>}
          {may('createAsset') && <Button onClick={onCreate}>New asset</Button>}
        </p>
      </Empty>
    );
  return (
    <Empty title={ip === undefined ? 'No matching assets' : 'No asset has this address'}>
      <p>
        {known !== undefined && `${counted(known, 'asset')} in total. `}
        {ip !== undefined && 'Only hosts in the home networks become assets.'}
      </p>
      <p class="row">
        {ip !== undefined && (
          <>
            <a href={href('events', { range: 'all', ip })}>Show events</a>
            <a href={href('alerts', { range: 'all', view: 'all', ip })}>Show alerts</a>
          </>
        )}
        {isFiltered && <WithoutFilters list="listAssets" also={seenParams({ kind: 'any' })} />}
      </p>
    </Empty>
  );
}
