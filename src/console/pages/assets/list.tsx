import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { place, setParams } from '../../state/address.ts';
import { all, type Marking, noMarks, through, toggled } from '../../ui/marking.ts';
import { Split } from '../../ui/split.tsx';
import { Table } from '../../ui/table.tsx';
import { useActions } from './actions.tsx';
import { columns, rowClass } from './columns.tsx';
import { OpenedAsset } from './detail.tsx';
import { ListLine } from './list-line.tsx';
import { NoAssets } from './no-assets.tsx';
import { type AssetRow, defaultSort, onlyAddress } from './question.ts';
import { QuickViews } from './quick-views.tsx';
import { useStillList } from './still-list.ts';

/** The inventory, with the open asset beside it. Rows do not move until the user refreshes the list. */
export function AssetList() {
  const { params } = place.value;
  const { chips, seen, sort, which, filters, list, refresh: reload } = useStillList('listAssets');
  const [marking, setMarking] = useState<Marking>(noMarks);
  useEffect(() => setMarking(noMarks), [which]);
  const cursor = useSignal<string | undefined>(undefined);
  const openId = params.get('id') ?? undefined;
  useOpenOnly(list, onlyAddress(params));

  const order = useMemo(() => list.rows.map(({ id }) => id), [list.rows]);
  const refresh = () => {
    setMarking(noMarks);
    reload();
  };
  const actions = useActions({
    rows: list.rows,
    marked: list.rows.filter(({ id }) => marking.ids.has(id)),
    currentId: openId ?? cursor.value,
    onUnmark: (left) => setMarking({ ids: left, anchor: undefined }),
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
        <ListLine list={list} filters={filters} marked={marking.ids.size} actions={actions} onRefresh={refresh} />
        <Table
          label="Assets"
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          open={openId}
          onOpen={({ id }, options) => setParams({ id }, options)}
          cursor={cursor}
          // Checkboxes are hidden at phone widths to leave room for the text.
          {...(innerWidth > 480 && { marked: marking.ids })}
          onMark={({ id }, how) => setMarking(how.through ? through(marking, id, order) : toggled(marking, id))}
          onMarkAll={(every) => setMarking(every ? all(order) : noMarks)}
          sort={sort}
          onSort={(by) => setParams({ sort: by === defaultSort ? undefined : by })}
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
