import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import type { Counts } from './page.tsx';
import type { View } from './question.ts';

const nothing: Readonly<Record<View, string>> = {
  open: 'Nothing is open in this time.',
  mine: 'Nothing in this time is yours.',
  unassigned: 'Everything open has somebody who works on it.',
  all: 'No alerts in this time.',
};

/** Why there is nothing, and what was looked at. */
export function NoAlerts({ view, counts, hasChips }: { view: View; counts: Counts; hasChips: boolean }) {
  const all = counts.all ?? 0;
  if (all > 0 && view !== 'all')
    return (
      <Empty title={nothing[view]}>
        <p>
          {number(all)} {all === 1 ? 'alert' : 'alerts'} of this time {all === 1 ? 'is' : 'are'} resolved,
          suppressed or somebody else’s.
        </p>
        <p class="row">
          <Button onClick={() => setParams({ view: 'all' })}>Show all</Button>
        </p>
      </Empty>
    );
  if (hasChips)
    return (
      <Empty title="No alert of this time matches the filters.">
        <p class="row">
          <WithoutFilters list="listAlerts" />
          <Button onClick={() => setParams({ range: 'all', from: undefined, to: undefined })}>
            Look at all time
          </Button>
        </p>
      </Empty>
    );
  return (
    <Empty title={nothing.all}>
      <LookedAt />
      {shownRange().name !== 'all' && (
        <p class="row">
          <Button onClick={() => setParams({ range: 'all', from: undefined, to: undefined })}>
            Look at all time
          </Button>
        </p>
      )}
    </Empty>
  );
}

function LookedAt() {
  const query = { ...rangeQuery(), per_page: 1 } as never;
  const network = useAnswer('listNetworkEvents', { query }).data?.pagination.total;
  const dns = useAnswer('listDnsEvents', { query }).data?.pagination.total;
  if (network === undefined || dns === undefined) return <p>…</p>;
  const total = network + dns;
  return (
    <p>
      {total === 0
        ? 'No events of this time are stored: nothing was sent, or it was of another time.'
        : `${number(total)} events of this time were looked at.`}
    </p>
  );
}
