import { applied, place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { recently } from '../../state/clock.ts';
import { ranges } from '../../state/range.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { sorts } from './columns.tsx';
import { ListBar } from './list-bar.tsx';
import {
  defaultSort,
  type Filters,
  type QuickView,
  quickParams,
  quickQuery,
  quickViews,
  type Seen,
  seenQuery,
  shownQuickView,
} from './question.ts';
import './quick-views.css';

const countedEveryMs = 30_000;

/** Selects the list, the time range, the sort order and the quick view. */
export function QuickViews({ chips, seen, onCreate }: { chips: Filters; seen: Seen; onCreate: () => void }) {
  const { params } = place.value;
  const shown = shownQuickView(params);
  const sort = params.get('sort') ?? defaultSort;
  return (
    <>
      <ListBar sorts={sorts} sort={sort}>
        {may('createAsset') && (
          <Button hint="n" onClick={onCreate}>
            New asset
          </Button>
        )}
      </ListBar>
      <nav class="asset-quick" aria-label="Quick views">
        {quickViews.map((view) => (
          <Quick key={view.name} view={view} isShown={view === shown} chips={chips} seen={seen} />
        ))}
      </nav>
    </>
  );
}

function Quick({ view, isShown, chips, seen }: { view: QuickView; isShown: boolean; chips: Filters; seen: Seen }) {
  const query = { ...quickQuery(chips, view), ...seenQuery(seen, recently.value, ranges), per_page: 1 };
  const answer = useAnswer('listAssets', { query: query as never }, { refreshMs: countedEveryMs });
  const total = answer.data?.pagination.total;
  return (
    <a
      href={`/assets?${applied(place.value.params, quickParams(view))}`}
      aria-current={isShown ? 'true' : undefined}
      title={view.hint}
    >
      {view.title}
      {total !== undefined && <span class="quiet"> {number(total)}</span>}
    </a>
  );
}
