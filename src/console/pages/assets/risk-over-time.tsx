import { useMemo } from 'preact/hooks';
import type { RiskHistory } from '../../../contract/resources/risk-history.ts';
import { useAnswer } from '../../state/answers.ts';
import { Button } from '../../ui/button.tsx';
import { Chart, type Series } from '../../ui/chart.tsx';
import { counted, number } from '../../ui/format.ts';
import type { AssetRow } from './question.ts';
import { shownWindow } from './window.tsx';

const refreshMs = 30_000;

/** The risk score of the asset over the selected range. */
export function RiskOverTime({ asset: { id } }: { asset: AssetRow }) {
  const window = shownWindow();
  const answer = useAnswer('getAssetRiskHistory', { params: { asset_id: id }, query: { window } }, { refreshMs });
  const shown = answer.data?.data.attributes;
  const steps = useMemo(() => shown && stepsOf(shown), [shown]);
  if (shown === undefined || steps === undefined)
    return (
      <p class="quiet" role="status">
        {answer.error === null ? (
          '…'
        ) : (
          <>
            Risk history unavailable: {answer.error.message}{' '}
            <Button kind="plain" onClick={() => void answer.refetch()}>
              Retry
            </Button>
          </>
        )}
      </p>
    );
  const first = shown.points[0]?.score ?? shown.score;
  if (shown.points.length < 2)
    return <p class="quiet">{first === 0 ? 'No risk in this range.' : 'No change in this range.'}</p>;
  return (
    <Chart
      label={`Risk score over time: ${counted(shown.points.length - 1, 'change')} from ${first} to ${shown.score}, highest ${shown.highest}`}
      times={steps.times}
      series={steps.series}
      kind="steps"
      height={80}
      format={number}
      highest={100}
    />
  );
}

/** Builds a step series: each score holds until the next point, the last score until the end of the history. */
function stepsOf({ points, score, to }: RiskHistory): { times: number[]; series: Series[] } {
  const end = Date.parse(to);
  const times: number[] = [];
  const values: number[] = [];
  for (const point of points) {
    const at = Date.parse(point.at);
    if (point.highest !== undefined) {
      times.push(at / 1000);
      values.push(point.highest);
    }
    times.push(at / 1000);
    values.push(point.score);
  }
  return {
    times: [...times, end / 1000],
    series: [{ title: 'Risk', values: [...values, score], colour: '--high' }],
  };
}
