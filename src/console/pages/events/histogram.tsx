import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { severities } from '../../../contract/vocabulary.ts';
import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { ranges, shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { day, duration, instant, number, within } from '../../ui/format.ts';
import { type Bars, barsOf, zoomed } from '../../ui/histogram-bars.ts';
import type { Question } from './question.ts';
import { type TableName, tables } from './tables.ts';
import { widerRange } from './zoom.ts';

/** As many bars as there is room for. */
const maxBars = 120;

/** How many events there were when, by severity. A span that is dragged becomes the time of the page. */
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
        <p class="events-histogram-state quiet">None{within(question.query.from, question.query.to)}.</p>
      ) : shown === undefined || bars === undefined ? (
        <p class="events-histogram-state quiet" role="status">
          {answer.error === null ? (
            'Counting …'
          ) : (
            <>
              Counts over time are not to be had: {answer.error.message}{' '}
              <Button kind="plain" onClick={() => void answer.refetch()}>
                Try again
              </Button>
            </>
          )}
        </p>
      ) : (
        <Chart
          label={`${number(shown.total)} ${tables[table].one}s over time, by severity, in steps of ${duration(shown.bucket_ms)}. Drag to zoom; the time menu does the same by keyboard.`}
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
          <Button kind="plain" hint="-" title="A wider time (double click on the chart)" onClick={widen}>
            Zoom out
          </Button>
        )}
      </p>
    </div>
  );
}

/** The bar under the pointer in words, else what a bar is. */
function Pointed({ histogram, index }: { histogram: Bars; index: number | undefined }) {
  const bucket = index === undefined ? undefined : histogram.buckets[index];
  if (bucket === undefined) return <>a bar is {duration(histogram.bucket_ms)} · drag to zoom</>;
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
