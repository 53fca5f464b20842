/**
 * How does ingest depend on the traffic, and on other work of the service? Zeek lines in bodies of 10,000 are sent over
 * 4 connections: lines from a site (as in the other benchmarks), from a LAN, from a server on the Internet with 40,000
 * peers, from a flood whose addresses and ports are nearly always new, and DNS lookups. The site's lines are also sent
 * while the service does other work. Cases alternate, round after round, each with a new service with default settings,
 * all shipped rules and all detectors. A round ends when detection and statistics include all of its events. Ratios
 * compare cases in the same round.
 */
import { startService, tokenFor } from '../scripts/service.ts';
import { type WorkFigure, type WorkName, works } from './load/beside.ts';
import type { FormatName, MixName } from './load/formats.ts';
import { cpuNote, type Loader, type Measured, measure, startLoader } from './load/loader.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

const connections = 4;

const cases = {
  'a site': { format: 'Zeek conn, JSON', beside: [] },
  'a LAN': { format: 'LAN', beside: [] },
  'an internet host': { format: 'internet host', beside: [] },
  'a flood of new tuples': { format: 'flood', beside: [] },
  'DNS lookups': { format: 'Zeek dns, JSON', beside: [] },
  'a site, with a slow subscriber': { format: 'Zeek conn, JSON', beside: ['a slow subscriber'] },
  'a site, with an endless export': { format: 'Zeek conn, JSON', beside: ['an endless export'] },
  'a site, with a heavy query every 100 ms': { format: 'Zeek conn, JSON', beside: ['a heavy query every 100 ms'] },
  'a site, with all three': { format: 'Zeek conn, JSON', beside: Object.keys(works) as WorkName[] },
} as const satisfies Record<string, { format: FormatName | MixName; beside: readonly WorkName[] }>;

export type CaseName = keyof typeof cases;
/** The case with which the other cases are compared. */
const base: CaseName = 'a site';

interface Case {
  readonly name: CaseName;
  readonly measured: Measured[];
  /** Results of the work that the service did during ingest, by round. */
  readonly figures: WorkFigure[][];
}

/**
 * Measures the cases.
 *
 * @param seconds - duration of a round of one case, without the time of deferred work
 * @param names - cases to measure in addition to `a site`
 */
export async function run(
  seconds = 2,
  rounds = 3,
  names: readonly CaseName[] = Object.keys(cases) as CaseName[],
  linesPerBody = 10_000,
): Promise<BenchRow[]> {
  const loader = startLoader();
  const all = [...new Set([base, ...names])].map((name): Case => ({ name, measured: [], figures: [] }));
  try {
    for (let round = 0; round < rounds; round++)
      for (const one of all) await measureRound(loader, one, seconds, linesPerBody);
    return rowsOf(all, linesPerBody);
  } finally {
    await loader.stop();
  }
}

async function measureRound(
  loader: Loader,
  { name, measured, figures }: Case,
  seconds: number,
  linesPerBody: number,
): Promise<void> {
  const { format, beside } = cases[name];
  const service = await startService();
  try {
    const [sensor, analyst] = [await tokenFor(service, 'sensor'), await tokenFor(service, 'analyst')];
    const plan = { url: service.url, token: sensor, format, linesPerBody, connections, seconds };
    // Warm-up: code is compiled, and bodies are created.
    await measure(loader, service, { ...plan, seconds: seconds / 4 }, analyst);
    const stops = beside.map((work) => works[work](service, analyst));
    try {
      measured.push(await measure(loader, service, plan, analyst));
    } finally {
      figures.push((await Promise.all(stops.map((stop) => stop()))).flat());
    }
  } finally {
    await service.stop();
  }
}

function rowsOf(all: readonly Case[], linesPerBody: number): BenchRow[] {
  const sent = `bodies of ${linesPerBody.toLocaleString('en')}, ${connections} at a time`;
  const rate = ({ events, countedS }: Measured) => events / countedS;
  const site = all[0]!.measured.map(rate);
  const rows = (
    question: string,
    unit: string,
    of: (one: Measured, round: number) => number,
    tell: (figure: number) => number,
    note?: (one: Case) => string,
  ) =>
    all.map((one) =>
      rowOfRounds(
        { question, variant: one.name, unit, ...(note !== undefined && { note: note(one) }) },
        one.measured.map(of),
        tell,
      ),
    );
  return [
    ...rows(`Events per second in ${sent}, detected on and counted`, 'events/s', rate, Math.round, ({ measured }) =>
      cpuNote(measured),
    ),
    ...rows('Events per second, compared with a site', '×', (one, round) => rate(one) / site[round]!, hundredths).slice(
      1,
    ),
    ...rows('CPU of the service', 'µs/event', ({ serviceCpuS, events }) => (serviceCpuS * 1e6) / events, tenths),
    ...rows('From a request to its acknowledgement, p99', 'ms', ({ p99Ms }) => p99Ms, Math.round),
    ...rows(
      'Anonymous memory under this load',
      'MiB RssAnon, peak',
      ({ peakRssAnonMiB }) => peakRssAnonMiB,
      Math.round,
    ),
    ...all.flatMap(workRows),
  ];
}

/** Returns the rows of the work that the service did during ingest. */
function workRows({ name, figures }: Case): BenchRow[] {
  return figures[0]!.map((figure, at) =>
    rowOfRounds(
      { question: 'Work beside ingest', variant: `${name}: ${figure.name}`, unit: figure.unit },
      figures.map((its) => its[at]!.value),
      hundredths,
    ),
  );
}

const tenths = (figure: number) => Math.round(10 * figure) / 10;
const hundredths = (figure: number) => Math.round(100 * figure) / 100;

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 2), Number(process.argv[3] ?? 3)));
