import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shownTheme, zone } from '../state/preferences.ts';
import { compact, day, instant } from './format.ts';
import { roundUp, stacked } from './scale.ts';
import './chart.css';

/** A series of a chart: a value for each time, null for a gap. */
export interface Series {
  readonly title: string;
  readonly values: readonly (number | null)[];
  /** Name of a CSS colour variable, such as `--series-1`. */
  readonly colour: string;
  /** Whether the series is drawn faintly, as the previous period. */
  readonly previous?: boolean;
}

interface ChartProps {
  /** Text alternative for screen readers. */
  readonly label: string;
  /** Starts of the buckets in epoch seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Form of the chart. `steps`: each value holds until the next time. */
  readonly kind?: 'lines' | 'steps' | 'bars';
  readonly height?: number;
  /** Top of the scale; by default just above the highest value. */
  readonly highest?: number;
  readonly format?: (value: number) => string;
  /** Base for round numbers on the vertical axis: 1024 for bytes. */
  readonly base?: 1000 | 1024;
  /** Called with the range that the user selected by dragging, in epoch milliseconds. */
  readonly onZoom?: (from: number, to: number) => void;
  /** Called with the index into `times` under the pointer; undefined when the pointer leaves. */
  readonly onPoint?: (index: number | undefined) => void;
}

/** A chart of values over time as lines, steps or stacked bars. Several series get a legend. */
export function Chart({
  label,
  times,
  series,
  kind = 'lines',
  height = 120,
  highest,
  format = compact,
  base = 1000,
  onZoom,
  onPoint,
}: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const theme = shownTheme();
  const inUtc = zone.value === 'utc';
  const titles = series.map(({ title }) => title).join('\n');
  const plain = kind === 'bars' ? stacked(series, 0) : series.map(({ values }) => [...values]);
  const top = highest ?? roundUp(Math.max(0, ...plain.flat().map(Number)), base);
  const values = kind === 'bars' ? stacked(series, top / (height - topPx - axisPx)) : plain;
  // Labels with a year need more room at the edges.
  const edge = day((times[0] ?? 0) * 1000).length > 5 ? 34 : 18;
  const latest = useRef({ onPoint, top, edge });
  latest.current = { onPoint, top, edge };

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--quiet'),
      font: `11px ${colour('--mono')}`,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height,
        legend: { show: false },
        padding: [topPx, () => latest.current.edge, 0, 0],
        cursor: {
          y: false,
          drag: { x: onZoom !== undefined, y: false, setScale: false },
          points: { size: 5 },
        },
        tzDate: (seconds) => (inUtc ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000)),
        scales: { y: { range: () => [0, latest.current.top] } },
        axes: [
          {
            ...axis,
            // Room for a time of day with seconds.
            space: 72,
            size: axisPx,
            gap: 6,
            values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => timeLabel(tick, step)),
          },
          {
            ...axis,
            gap: 4,
            splits: (_plot, _axis, _min, max) => (height >= halvesFrom && max % 2 === 0 ? [0, max / 2, max] : [0, max]),
            size: (_plot, labels: readonly string[] | null) => Math.max(latest.current.edge, widthOf(labels ?? [])),
            values: (_plot, ticks) => ticks.map((tick) => format(tick)),
          },
        ],
        series: [
          {},
          ...series.map(({ title, colour: name, previous }) => ({
            label: title,
            stroke: colour(name),
            width: 1.25,
            points: { show: false },
            ...(kind === 'steps' && { paths: uPlot.paths.stepped!({ align: 1 }), width: 1.5 }),
            ...(previous === true && { dash: [3, 3], alpha: 0.8 }),
            ...(kind === 'bars' &&
              !previous && {
                fill: colour(name),
                width: 0,
                paths: uPlot.paths.bars!({ size: [0.86, 40], align: 1 }),
              }),
          })),
        ],
        hooks: {
          setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? undefined)],
          setSelect: [
            (shown) => {
              const { left, width } = shown.select;
              if (width < 4) return;
              zoom.current?.(shown.posToVal(left, 'x') * 1000, shown.posToVal(left + width, 'x') * 1000);
              shown.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            },
          ],
        },
      },
      [[...times], ...values],
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) made.setSize({ width, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [theme, inUtc, titles, kind, height, highest, onZoom === undefined]);

  useEffect(() => plot.current?.setData([[...times], ...values]), [times, series]);

  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={label} />
      {series.length > 1 && (
        <figcaption class="chart-legend">
          {series.map((one) => (
            <span key={one.title}>
              <Swatch colour={one.colour} dashed={one.previous === true} />
              {one.title}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

/** Space above the plot, in pixels. */
const topPx = 6;
/** Height of the horizontal axis, in pixels. */
const axisPx = 28;

/** Minimum height in pixels of charts that also label the middle of the scale. */
const halvesFrom = 90;

/** Returns the width in pixels of the vertical axis for its labels: characters of 11 px are 6.7 px wide. */
const widthOf = (labels: readonly string[]): number =>
  Math.ceil(14 + 6.7 * Math.max(2, ...labels.map((label) => label.length)));

/**
 * Returns the label of a tick in the preferred zone: the time; the date at midnight and for steps of a day or more; the
 * month for steps of a month or more. `step` is in seconds.
 */
function timeLabel(at: number, step: number): string {
  const text = instant(at * 1000, { ms: false });
  const time = text.slice(11);
  if (step >= 28 * 86_400) return text.slice(0, 7);
  if (step >= 86_400 || time === '00:00:00') return day(at * 1000);
  return step < 60 ? time : time.slice(0, 5);
}

function Swatch({ colour, dashed }: { colour: string; dashed: boolean }) {
  return (
    <svg width="14" height="8" aria-hidden="true">
      <line
        x1="0"
        x2="14"
        y1="4"
        y2="4"
        stroke={`var(${colour})`}
        stroke-width="2"
        {...(dashed && { 'stroke-dasharray': '3 3' })}
      />
    </svg>
  );
}
