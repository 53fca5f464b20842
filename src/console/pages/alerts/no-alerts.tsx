import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { counted } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import type { Counts } from './page.tsx';
import type { View } from './question.ts';

const nothing: Readonly<Record<View, string>> = {
  open: 'No open alerts in this range',
  mine: 'No alerts assigned to you in this range',
  unassigned: 'No unassigned alerts in this range',
  all: 'No alerts in this range',
};

/** Explains why the queue is empty. Without alerts and filters, shows the number of events analysed. */
export function NoAlerts({ view, counts, hasChips }: { view: View; counts: Counts; hasChips: boolean }) {
  const all = counts.all ?? 0;
  if (all > 0 && view !== 'all')
    return (
      <Empty title={nothing[view]}>
        <p>{counted(all, 'alert in this range is', 'alerts in this range are')} not in this view.</p>
        <p class="row">
          <Button onClick={() => setParams({ view: 'all' })}>Show all</Button>
        </p>
      </Empty>
    );
  if (hasChips)
    return (
      <Empty title="No alerts in this range match the filters">
        <p class="row">
          <WithoutFilters list="listAlerts" />
          <Button onClick={() => setParams({ range: 'all', from: undefined, to: undefined })}>Search all time</Button>
        </p>
      </Empty>
    );
  return (
    <Empty title={nothing.all}>
      <AnalyzedEvents />
      {shownRange().name !== 'all' && (
        <p class="row">
          <Button onClick={() => setParams({ range: 'all', from: undefined, to: undefined })}>Search all time</Button>
        </p>
      )}
    </Empty>
  );
}

function AnalyzedEvents() {
  const query = { ...rangeQuery(), per_page: 1 } as never;
  const network = useAnswer('listNetworkEvents', { query }).data?.pagination.total;
  const dns = useAnswer('listDnsEvents', { query }).data?.pagination.total;
  if (network === undefined || dns === undefined) return <p>…</p>;
  const total = network + dns;
  return (
    <p>
      {total === 0
        ? 'No events are stored for this range.'
        : `${counted(total, 'event in this range was', 'events in this range were')} analysed.`}
    </p>
  );
}
