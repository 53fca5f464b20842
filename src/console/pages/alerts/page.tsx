import { useState } from 'preact/hooks';
import { alertGroupings } from '../../../contract/vocabulary.ts';
import { place, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { filterQuery } from '../../state/filters.ts';
import { refreshed } from '../../state/moving-range.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';
import { me } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/chips.tsx';
import { number } from '../../ui/format.ts';
import { Menu, SortMenu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { shownTab, Tabs } from '../../ui/tabs.tsx';
import { sorts } from './columns.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { Groups, groupTitles, shownGrouping } from './groups.tsx';
import { type Filters, filtersOf, usualView, type View, views } from './question.ts';
import { Queue } from './queue.tsx';
import './alerts.css';

const viewTitles: Readonly<Record<View, string>> = {
  open: 'Open',
  mine: 'Mine',
  unassigned: 'Unassigned',
  all: 'All',
};
/** Default sort: most severe first, then most recent. */
const defaultSort = '-severity';
const countedEveryMs = 30_000;

/** The alert queue, where analysts triage. */
export default function Alerts() {
  const chips = filterQuery('listAlerts');
  const myName = me.value?.name ?? '';
  const usual = usualView(chips);
  const view = shownTab(
    'view',
    views.map((value) => ({ value })),
    usual,
  );
  const filters = filtersOf(chips, view, myName);
  const grouping = shownGrouping();
  const sort = place.value.params.get('sort') ?? defaultSort;
  const counts = useCounts(chips, myName);
  const [exporting, setExporting] = useState(false);
  return (
    <Page title="Alerts" range="any" bar={<FilterBar list="listAlerts" search="Search alerts" />}>
      <div class="alert-views">
        <Tabs
          label="View"
          usual={usual}
          tabs={views.map((value) => ({
            value,
            title: counts[value] === undefined ? viewTitles[value] : `${viewTitles[value]} ${number(counts[value])}`,
          }))}
        />
        <div class="alert-tools">
          <Menu
            class="button"
            label={grouping === undefined ? 'Group' : `Grouped by ${groupTitles[grouping].toLowerCase()}`}
            items={() => [
              ...(grouping === undefined
                ? []
                : [{ title: 'Ungrouped', run: () => setParams({ group: undefined }) }, 'line' as const]),
              ...alertGroupings.map((by) => ({
                title: `By ${groupTitles[by].toLowerCase()}`,
                run: () => setParams({ group: by, id: undefined }),
              })),
            ]}
          >
            {grouping === undefined ? 'Group' : `By ${groupTitles[grouping].toLowerCase()}`} ▾
          </Menu>
          {grouping === undefined && <SortMenu sorts={sorts} sort={sort} usual={defaultSort} />}
          <Button onClick={() => setExporting(true)}>Export</Button>
        </div>
      </div>
      {grouping === undefined ? (
        <Queue filters={filters} sort={sort} view={view} counts={counts} hasChips={Object.keys(chips).length > 0} />
      ) : (
        <Groups by={grouping} filters={filters} />
      )}
      {exporting && (
        <ExportDialog
          query={{ ...filters, ...rangeQuery() }}
          total={counts[view]}
          onClose={() => setExporting(false)}
        />
      )}
    </Page>
  );
}

export type Counts = Readonly<Partial<Record<View, number>>>;

/** Counts the alerts of each view. */
function useCounts(chips: Filters, myName: string): Counts {
  const count = (view: View): number | undefined =>
    useAnswer(
      'listAlerts',
      { query: { ...filtersOf(chips, view, myName), ...rangeQuery(), per_page: 1 } as never },
      refreshed(shownRange(), countedEveryMs),
    ).data?.pagination.total;
  const [open, mine, unassigned, all] = [count('open'), count('mine'), count('unassigned'), count('all')];
  return {
    ...(open !== undefined && { open }),
    ...(mine !== undefined && { mine }),
    ...(unassigned !== undefined && { unassigned }),
    ...(all !== undefined && { all }),
  };
}
