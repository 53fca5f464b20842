/**
 * How does ingest depend on the size and the concurrency of bodies? Zeek conn lines in bodies of 1 to 10,000 are sent
 * over 1 to 64 connections to one service with default settings. Each connection sends its next body after an
 * acknowledgement. Small bodies should be fast when there are few, and cheap when there are many. A round ends when
 * detection and statistics include all of its events. A refused body is sent again after the wait that the service
 * requests; the wait is part of the body's time.
 */
import { startService, tokenFor } from '../scripts/service.ts';
import { cpuNote, type Measured, measure, startLoader } from './load/loader.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

/** Numbers of connections by lines per body. */
const allCells = { 1: [1, 8, 64], 10: [1, 8, 64], 100: [1, 8, 32, 64], 1000: [1, 8, 64], 10000: [1, 8, 64] } as const;
/** Lines per body and connections of two cells whose rates are compared. */
interface Compared {
  readonly small: readonly [lines: number, connections: number];
  readonly large: readonly [lines: number, connections: number];
}
/** Shippers with small bodies, and the same lines in large bodies. */
const shippers: Compared = { small: [100, 32], large: [10_000, 8] };

export async function run(
  seconds = 1.2,
  connectionsOf: Readonly<Record<number, readonly number[]>> = allCells,
  rounds = 3,
  compared = shippers,
): Promise<BenchRow[]> {
  const service = await startService();
  const loader = startLoader();
  try {
    const token = await tokenFor(service, 'sensor');
    const reader = await tokenFor(service, 'viewer');
    const cells: Cell[] = [];
    for (const [size, counts] of Object.entries(connectionsOf))
      for (const connections of counts) {
        const lines = Number(size);
        const plan = {
          url: service.url,
          token,
          format: 'Zeek conn, JSON',
          linesPerBody: lines,
          connections,
        } as const;
        // Warm-up: bodies are created and connections opened.
        await measure(loader, service, { ...plan, seconds: seconds / 4 }, reader);
        const measured: Measured[] = [];
        for (let round = 0; round < rounds; round++)
          measured.push(await measure(loader, service, { ...plan, seconds }, reader));
        cells.push({ variant: nameOf(lines, connections), measured });
      }
    return rowsOf(cells, compared);
  } finally {
    await loader.stop();
    await service.stop();
  }
}

interface Cell {
  readonly variant: string;
  readonly measured: readonly Measured[];
}

function nameOf(lines: number, connections: number): string {
  return `${lines.toLocaleString('en')} a body, ${connections} at a time`;
}

const rate = ({ events, countedS }: Measured) => events / countedS;

function rowsOf(cells: readonly Cell[], compared: Compared): BenchRow[] {
  const rows = (
    question: string,
    unit: string,
    of: (one: Measured) => number,
    more: { digits?: number; suffix?: string; note?: (cell: Cell) => string | undefined } = {},
  ) =>
    cells.map((cell) => {
      const note = more.note?.(cell);
      const variant = cell.variant + (more.suffix ?? '');
      return rowOfRounds(
        { question, variant, unit, ...(note !== undefined && { note }) },
        cell.measured.map(of),
        more.digits === undefined ? Math.round : (figure) => Number(figure.toPrecision(more.digits)),
      );
    });
  const acknowledged = 'From a request to its acknowledgement';
  const [p50, p99] = [
    rows(acknowledged, 'ms', ({ p50Ms }) => p50Ms, { digits: 3, suffix: ', p50' }),
    rows(acknowledged, 'ms', ({ p99Ms }) => p99Ms, { digits: 3, suffix: ', p99', note: refusedNote }),
  ];
  return [
    ...rows('Events per second, detected on and counted', 'events/s', rate, {
      note: ({ measured }) => cpuNote(measured),
    }),
    ...shareRows(cells, compared),
    ...rows('Requests acknowledged per second', 'requests/s', ({ requests, elapsedS }) => requests / elapsedS),
    ...p50.flatMap((row, at) => [row, p99[at]!]),
    ...rows('Anonymous memory under this load', 'MiB RssAnon, peak', ({ peakRssAnonMiB }) => peakRssAnonMiB),
  ];
}

/** Returns the rate in small bodies as a share of the rate in large ones, if both were measured. */
function shareRows(cells: readonly Cell[], compared: Compared): BenchRow[] {
  const names = { small: nameOf(...compared.small), large: nameOf(...compared.large) };
  const ratesOf = (name: string) => cells.find(({ variant }) => variant === name)?.measured.map(rate);
  const [small, large] = [ratesOf(names.small), ratesOf(names.large)];
  if (small === undefined || large === undefined) return [];
  return [
    rowOfRounds(
      {
        question: 'Rate of small bodies as a share of the rate of large ones',
        variant: `${names.small} ÷ ${names.large}`,
        unit: '×',
      },
      small.map((one, round) => one / large[round]!),
      (share) => Math.round(100 * share) / 100,
    ),
  ];
}

function refusedNote({ measured }: Cell): string | undefined {
  const refused = measured.reduce((sum, one) => sum + one.refused, 0);
  const requests = measured.reduce((sum, one) => sum + one.requests, 0);
  return refused === 0 ? undefined : `${refused} refusals for ${requests} acknowledgements`;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 1.2)));
