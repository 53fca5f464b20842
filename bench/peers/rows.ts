import type { BenchRow } from '../result.ts';
import type { Asked } from './asking.ts';
import type { Entry } from './entries.ts';
import type { Loaded } from './loading.ts';
import { type Kind, remarks } from './questions.ts';

const rateQuestion = 'Zeek conn lines into typed columns, events per second';
const settledQuestion = 'The same until background work is done, in steps of half a second';
const cpuQuestion = 'CPU per million of these events, including background work after the acknowledgement';
const memoryQuestion = 'Anonymous memory during ingest';
const sizeQuestion = 'Bytes on disk of one of these events, merged and checkpointed';

const nameOf = ({ engine, variant }: { engine: string; variant: string }) => `${engine}, ${variant}`;

export function leftOutRow(entry: Entry, reason: string): BenchRow {
  const note = `not measured: ${reason.replaceAll(/\s+/g, ' ')}`;
  return { question: rateQuestion, variant: nameOf(entry), value: 0, unit: 'events/s', note };
}

export function loadRows(
  all: readonly Loaded[],
  parsed: readonly number[],
  { lines, rounds }: { lines: number; rounds: number },
): BenchRow[] {
  const rates = all.map(
    (one): BenchRow => ({
      question: rateQuestion,
      variant: nameOf(one.entry),
      value: Math.round(median(one.rates)),
      unit: 'events/s',
      note: `${spread(one.rates)}; ${one.peer.note}`,
    }),
  );
  const bare: BenchRow = {
    question: rateQuestion,
    variant: 'JSON.parse alone',
    value: Math.round(median(parsed)),
    unit: 'lines/s',
    note: `${spread(parsed)}; one thread a core, lines already texts; median and range of ${rounds} rounds of ${lines.toLocaleString('en')} lines, as of all here`,
  };
  return [
    ...rates,
    bare,
    ...ratioRows(all, parsed),
    ...all.map((one) => ({
      question: settledQuestion,
      variant: nameOf(one.entry),
      value: Math.round(median(one.settledRates)),
      unit: 'events/s',
      note: spread(one.settledRates),
    })),
    ...all.map((one) => ({
      question: cpuQuestion,
      variant: nameOf(one.entry),
      value: (one.cpuS / one.counted) * 1e6,
      unit: 's',
      note: `${((one.loadCpuS / one.counted) * 1e6).toPrecision(3)} s of them until the acknowledgement`,
    })),
    ...all.map((one) => ({
      question: memoryQuestion,
      variant: nameOf(one.entry),
      value: Math.round(one.peakRssAnonMiB),
      unit: 'MiB RssAnon, peak',
    })),
    ...sizeRows(all),
  ];
}

/** Returns rows for Candor's rate divided by other rates of the same round: median and range of the ratios. */
function ratioRows(all: readonly Loaded[], parsed: readonly number[]): BenchRow[] {
  const ratio = (variant: string, ours: readonly number[], theirs: readonly number[]): BenchRow => {
    const ratios = ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN));
    return { question: rateQuestion, variant, value: median(ratios), unit: '×', note: spread(ratios) };
  };
  const peers = all.filter(({ entry }) => entry.engine !== 'candor' && entry.engine !== 'PostgreSQL');
  const best = (among: readonly Loaded[]) => among.toSorted((a, b) => median(b.rates) - median(a.rates)).slice(0, 1);
  const rows: BenchRow[] = [];
  for (const one of all.filter(({ entry }) => entry.engine === 'candor')) {
    const ours = `candor, ${one.entry.variant}`;
    for (const peer of best(peers))
      rows.push(ratio(`${ours} ÷ the better peer (${nameOf(peer.entry)})`, one.rates, peer.rates));
    for (const peer of best(peers.filter(({ entry }) => entry.durable && entry.perBody)))
      rows.push(ratio(`${ours} ÷ the better peer that syncs each body (${nameOf(peer.entry)})`, one.rates, peer.rates));
    rows.push(ratio(`${ours} ÷ JSON.parse alone`, one.rates, parsed));
  }
  return rows;
}

function sizeRows(all: readonly Loaded[]): BenchRow[] {
  const perEvent = all.flatMap((one) => one.sizes.map(({ of, bytes }) => ({ one, of, value: bytes / one.events })));
  const row = (variant: string, value: number, unit: string): BenchRow => ({
    question: sizeQuestion,
    variant,
    value,
    unit,
  });
  const theirs = perEvent.find(({ one }) => one.entry.engine === 'ClickHouse')?.value;
  return [
    ...perEvent.map(({ one, of, value }) => row(nameOf(one.entry) + (of && `: ${of}`), value, 'bytes')),
    ...perEvent
      .filter(({ one }) => theirs !== undefined && one.entry.engine === 'candor')
      .map(({ one, of, value }) =>
        row(`${nameOf(one.entry)}: ${of} ÷ ClickHouse`, value / (theirs ?? Number.NaN), '×'),
      ),
  ];
}

/** Returns rows for the queries. `idle` has the milliseconds of requests to Candor that do not use the store. */
export function questionRows(answers: readonly Asked[], idle: readonly number[], events: number): BenchRow[] {
  const question = `The same questions over ${events.toLocaleString('en')} events, to rows in JavaScript`;
  const byKind = Map.groupBy(answers, ({ kind }) => kind);
  const example = answers.find((one) => one.example !== undefined);
  return [
    ...times(
      question,
      'an empty request, candor',
      idle,
      'HTTP and its client, included in all of its times; peers are called in process',
    ),
    ...[...byKind].flatMap(([kind, its]) => rowsOfKind(question, kind, its)),
    {
      question,
      variant: 'answers that differ',
      value: answers.reduce((sum, { differing }) => sum + differing, 0),
      unit: `of ${answers.reduce((sum, one) => sum + one.times.length, 0).toLocaleString('en')}`,
      ...(example && { note: `${example.engine}: ${example.example}` }),
    },
  ];
}

function rowsOfKind(question: string, kind: Kind, its: readonly Asked[]): BenchRow[] {
  const p50 = (one: Asked) => quantile(one.times, 0.5);
  const [ours, ...peers] = its;
  const quickest = peers.toSorted((a, b) => p50(a) - p50(b))[0];
  const rows = its.flatMap((one) =>
    times(question, `${kind}, ${one.engine}`, one.times, one === ours ? remarks[kind] : ''),
  );
  if (ours === undefined || quickest === undefined) return rows;
  const variant = `${kind}, candor ÷ the faster peer (${quickest.engine}), p50`;
  return [...rows, { question, variant, value: p50(ours) / p50(quickest), unit: '×' }];
}

function times(question: string, variant: string, values: readonly number[], note: string): BenchRow[] {
  return [
    {
      question,
      variant: `${variant}, p50`,
      value: quantile(values, 0.5),
      unit: 'ms',
      ...(note === '' ? {} : { note }),
    },
    { question, variant: `${variant}, p99`, value: quantile(values, 0.99), unit: 'ms' },
  ];
}

const median = (values: readonly number[]) => quantile(values, 0.5);

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [Math.floor, Math.ceil].map((round) => sorted[round((sorted.length - 1) * share)] ?? 0);
  return ((low ?? 0) + (high ?? 0)) / 2;
}

function spread(values: readonly number[]): string {
  const tell = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
  return `${tell(Math.min(...values))}–${tell(Math.max(...values))}`;
}
