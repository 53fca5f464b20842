import { useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import { recently } from '../../state/clock.ts';
import { Chart } from '../../ui/chart.tsx';
import { counted, duration, number } from '../../ui/format.ts';
import { growthOf } from './growth.ts';
import { type LastPage, pageOf } from './newest-first.ts';

/** Number of heads per page. */
const heads = 1000;

/**
 * New entries over time, from the newest one or two pages of heads. `newest` identifies the newest head; if it changes,
 * the heads are fetched again.
 */
export function GrowthChart({ newest }: { newest: string }) {
  const { data } = useQuery<LastPage<'listTreeHeads'>>({
    queryKey: ['listTreeHeads', 'growth', newest],
    queryFn: ({ signal }) => lastHeads(signal),
    enabled: newest !== '',
    placeholderData: (before) => before,
  });
  const growth = useMemo(() => {
    if (data === undefined) return undefined;
    const sizes = data.rows
      .map(({ attributes }) => ({ size: attributes.tree_size, at: attributes.timestamp_ns / 1e6 }))
      .reverse();
    return growthOf(sizes, { now: recently.value, fromStart: data.rows.length === data.total });
  }, [data, recently.value]);
  if (growth === undefined || data === undefined) return <div class="log-growth" />;
  const whole = data.rows.length === data.total;
  return (
    <div class="log-growth">
      <p class="quiet">
        New entries per {duration(growth.bucketMs)};{' '}
        {whole
          ? `all ${counted(data.total, 'head')}`
          : `the newest ${number(data.rows.length)} of ${number(data.total)} heads`}
      </p>
      <Chart
        label={`New log entries over time, from ${counted(data.rows.length, 'tree head')}`}
        kind="bars"
        height={104}
        times={growth.times}
        series={[{ title: 'new entries', values: growth.entries, colour: '--series-1' }]}
      />
    </div>
  );
}

/** Fetches the newest page, and the preceding page if the newest is less than half full. */
async function lastHeads(signal: AbortSignal): Promise<LastPage<'listTreeHeads'>> {
  const last = await pageOf('listTreeHeads', {}, heads, 'last', signal);
  if (last.page === 1 || last.rows.length >= heads / 2) return last;
  const before = await pageOf('listTreeHeads', {}, heads, last.page - 1, signal);
  return { ...last, rows: [...last.rows, ...before.rows] };
}
