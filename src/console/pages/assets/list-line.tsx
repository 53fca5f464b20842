import { assetKinds, criticalities } from '../../../contract/vocabulary.ts';
import { place } from '../../state/address.ts';
import { type Listed, useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { number, title } from '../../ui/format.ts';
import { ListLine } from '../../ui/list-line.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { Actions } from './actions.tsx';
import { type AssetRow, type Filters, shownQuickView } from './question.ts';
import './list-line.css';

const countedEveryMs = 30_000;

/** The line above the list: the count and new assets or, while rows are selected, the bulk actions. */
export function AssetListLine({
  list,
  filters,
  marked,
  actions,
  onRefresh,
}: {
  list: Listed<AssetRow>;
  filters: Filters;
  marked: number;
  actions: Actions;
  onRefresh: () => void;
}) {
  const { total } = list;
  const latest = useAnswer(
    'listAssets',
    { query: { ...filters, per_page: 1 } as never },
    { refreshMs: countedEveryMs, enabled: total !== undefined, keepPrevious: false },
  );
  if (marked > 0) return <Marked marked={marked} actions={actions} />;
  const fresh = total === undefined || latest.data === undefined ? 0 : latest.data.pagination.total - total;
  return (
    <ListLine
      list={list}
      of="asset"
      asOf={list.result.dataUpdatedAt}
      refresh={fresh > 0 ? `${number(fresh)} new` : 'Refresh'}
      onRefresh={onRefresh}
    >
      {shownQuickView(place.value.params)?.name === 'staged' && may('updateAsset') && (total ?? 0) > 0 && (
        <span class="quiet asset-advice">
          Not reviewed yet: <kbd>x</kbd> selects, <kbd>m</kbd> marks as managed.
        </span>
      )}
    </ListLine>
  );
}

function Marked({ marked, actions }: { marked: number; actions: Actions }) {
  const { progress, many } = actions;
  return (
    <div class="list-line list-line-marked" role="toolbar" aria-label="Bulk actions">
      <strong role="status">{number(marked)} selected</strong>
      {progress !== undefined ? (
        <>
          <progress max={progress.of} value={progress.done} aria-label="Assets changed" />
          <span class="quiet" role="status">
            {number(progress.done)} of {number(progress.of)} changed…
          </span>
          <Button onClick={progress.stop}>Stop</Button>
        </>
      ) : (
        may('updateAsset') && (
          <>
            <Button hint="m" onClick={many.manage}>
              Manage
            </Button>
            <Button onClick={many.retire}>Retire</Button>
            <Menu
              class="button"
              label="Set criticality of selected assets"
              items={() =>
                criticalities
                  .toReversed()
                  .map((level) => ({ title: title(level), run: () => many.set({ criticality: level }) }))
              }
            >
              Criticality ▾
            </Menu>
            <Menu
              class="button"
              label="Set kind of selected assets"
              items={() => assetKinds.map((kind) => ({ title: title(kind), run: () => many.set({ kind }) }))}
            >
              Kind ▾
            </Menu>
            <Button onClick={many.own}>Owner</Button>
          </>
        )
      )}
      <Button kind="plain" hint="esc" onClick={actions.unmark}>
        Clear selection
      </Button>
    </div>
  );
}
