import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { severities } from '../../../contract/vocabulary.ts';
import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { ranges, shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { counted, day, duration, instant, number, within } from '../../ui/format.ts';
import { type Bars, barsOf, zoomed } from '../../ui/histogram-bars.ts';
import type { Question } from './question.ts';
import { type TableName, tables } from './tables.ts';
import { widerRange } from './zoom.ts';

/** Maximum number of bars that fit. */
const maxBars = 120;

/** Event counts over time by severity. Dragging across the chart sets the time range of the page. */
export function EventHistogram({
  table,
  question,
  refreshMs,
}: {
  table: TableName;
  question: Question;
  refreshMs?: number;
}) {
  const pointed = useSignal<number | undefined>(undefined);
  const query = { ...question.query, buckets: maxBars } as never;
  const answer = useAnswer(
    tables[table].histogram,
    { query },
    { still: true, ...(refreshMs !== undefined && { refreshMs }) },
  );
  const shown = answer.data?.data.attributes;
  const bars = useMemo(() => shown && barsOf(shown), [shown]);
  const widen = () => setParams(widerRange(shownRange(), ranges, Date.now()));
  return (
    <div class="events-histogram" role="group" aria-label="Events over time" onDblClick={widen}>
      {shown?.total === 0 ? (
        <p class="events-histogram-state quiet">No events{within(question.query.from, question.query.to)}.</p>
      ) : shown === undefined || bars === undefined ? (
        <p class="events-histogram-state quiet" role="status">
          {answer.error === null ? (
            'Loading…'
          ) : (
            <>
              Histogram unavailable: {answer.error.message}{' '}
              <Button kind="plain" onClick={() => void answer.refetch()}>
                Retry
              </Button>
            </>
          )}
        </p>
      ) : (
        <Chart
          label={`${counted(shown.total, tables[table].one)} over time, by severity, in steps of ${duration(shown.bucket_ms)}. Drag to zoom, or use the time menu with the keyboard.`}
          times={bars.times}
          series={bars.series}
          kind="bars"
          height={96}
          onPoint={(index) => {
            pointed.value = index;
          }}
          onZoom={(from, to) => setParams({ ...zoomed(from, to, shown), range: undefined })}
        />
      )}
      <p class="events-histogram-line quiet">
        <span class="events-pointed">{shown && <Pointed histogram={shown} index={pointed.value} />}</span>
        {shownRange().name !== 'all' && (
          <Button kind="plain" hint="-" title="Zoom out (double-click the chart)" onClick={widen}>
            Zoom out
          </Button>
        )}
      </p>
    </div>
  );
}

/** Describes the bar under the pointer or, if the pointer is elsewhere, the length of a bar. */
function Pointed({ histogram, index }: { histogram: Bars; index: number | undefined }) {
  const bucket = index === undefined ? undefined : histogram.buckets[index];
  if (bucket === undefined) return <>{duration(histogram.bucket_ms)} per bar · drag to zoom</>;
  const start = Date.parse(bucket.at);
  const end = start + histogram.bucket_ms;
  const time = (at: number) => instant(at, { ms: false }).slice(11);
  const parts = severities.toReversed().flatMap((severity) => bucket.by_severity[severity] ?? []).length;
  return (
    <>
      <span class="mono">
        {day(start)} {time(start)} – {day(end) !== day(start) && `${day(end)} `}
        {time(end)}
      </span>{' '}
      · {number(bucket.count)}
      {parts > 1 &&
        severities
          .toReversed()
          .filter((severity) => bucket.by_severity[severity] !== undefined)
          .map((severity) => (
            <span key={severity}>
              {' '}
              · {number(bucket.by_severity[severity] ?? 0)} {severity}
            </span>
          ))}
    </>
  );
}
