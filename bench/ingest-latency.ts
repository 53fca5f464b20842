/**
 * How long until events are acknowledged, depending on the load? Bodies of 1,000 Zeek conn lines arrive in an open
 * loop, at times drawn in advance (a Poisson process) regardless of earlier bodies. Each latency is measured from the
 * body's due time, and so includes the wait behind a slow response. Loads are shares of the same service's throughput
 * in a closed loop in the same run, including detection and statistics. Loads are measured with the shipped rules, and
 * again with all rules disabled. After each load, the service processes its backlog before the next load. Refused
 * bodies (503, 429) are counted and not sent again. During each load, an administrator changes a silence repeatedly.
 */
import { login, type Service, startService, tokenFor } from '../scripts/service.ts';
import { type ChangeTimes, startChanges } from './load/changes.ts';
import { cpuNote, type Loader, type Measured, measure, startLoader } from './load/loader.ts';
import type { Plan } from './load/plan.ts';
import type { BenchRow } from './result.ts';
import { disableAll } from './sigma-http.ts';

const linesPerBody = 1000;
/** Loads in percent of the closed loop's throughput. The goal load runs three times as long. */
const loads = [10, 25, 50, 75, 90, 100, 120] as const;
const goalLoad = 50;
/** Goals for the 99th percentile, in milliseconds: by load, and for a user's change. */
const goalsMs: Readonly<Record<number, number>> = { 50: 60, 90: 200 };
const changeGoalMs = 20;
const closedLoop = { connections: 8, seconds: 6 };
/** Maximum open requests in an open loop. Further requests wait to be sent, and their waiting time counts. */
const mostUnderWay = 512;

const variants = { 'shipped rules': async () => {}, 'no rules': disableAll } as const satisfies Record<
  string,
  (service: Service) => Promise<void>
>;
type Variant = keyof typeof variants;

/**
 * Measures the latencies.
 *
 * @param seconds - duration of each load
 * @param percent - loads to measure
 */
export async function run(seconds = 4, percent: readonly number[] = loads): Promise<BenchRow[]> {
  const loader = startLoader();
  try {
    const rows: BenchRow[] = [];
    for (const variant of Object.keys(variants) as Variant[])
      rows.push(...(await ofVariant(loader, variant, seconds, percent)));
    return rows;
  } finally {
    await loader.stop();
  }
}

async function ofVariant(
  loader: Loader,
  variant: Variant,
  seconds: number,
  percent: readonly number[],
): Promise<BenchRow[]> {
  const service = await startService();
  try {
    await variants[variant](service);
    const reader = await login(service);
    const plan = {
      url: service.url,
      token: await tokenFor(service, 'sensor'),
      format: 'Zeek conn, JSON',
      linesPerBody,
    } as const;
    const follow = (rest: Pick<Plan, 'seconds' | 'connections' | 'requestsPerS'>) =>
      measure(loader, service, { ...plan, ...rest }, reader);
    // Warm-up: code is compiled.
    await follow({ ...closedLoop, seconds: Math.min(2, seconds) });
    const closed = await follow({ ...closedLoop, seconds: Math.min(closedLoop.seconds, 2 * seconds) });
    const perS = closed.events / closed.countedS;
    const rows = [...closedRows(variant, closed, perS)];
    for (const load of percent) {
      const stopChanges = await startChanges(service, reader);
      const measured = await follow({
        connections: mostUnderWay,
        requestsPerS: (perS * load) / 100 / linesPerBody,
        seconds: load === goalLoad ? 3 * seconds : seconds,
      });
      rows.push(...loadRows(variant, load, measured, await stopChanges()));
    }
    return rows;
  } finally {
    await service.stop();
  }
}

function closedRows(variant: Variant, closed: Measured, perS: number): BenchRow[] {
  const question = `In a closed loop, ${closedLoop.connections} bodies of ${linesPerBody.toLocaleString('en')} at a time: 100 % load`;
  return [
    {
      question,
      variant,
      value: Math.round(perS),
      unit: 'events/s',
      note: cpuNote([closed]),
    },
    { question, variant: `${variant}, acknowledgement, p99`, value: tell(closed.p99Ms), unit: 'ms' },
  ];
}

function loadRows(variant: Variant, load: number, measured: Measured, changes: ChangeTimes): BenchRow[] {
  const { requests, refused, p50Ms, p99Ms, maxMs, lateP99Ms, events, elapsedS, peakRssAnonMiB } = measured;
  const question = `From a body's due time to its acknowledgement, open loop, ${variant}`;
  const row = (of: string, value: number, unit: string, note?: string): BenchRow => ({
    question,
    variant: `${of} at ${load} % load`,
    value,
    unit,
    ...(note !== undefined && { note }),
  });
  const sent = `${requests.toLocaleString('en')} bodies, ${Math.round(events / elapsedS).toLocaleString('en')} events/s`;
  const late = `99 of 100 were sent at most ${tell(lateP99Ms)} ms late (included)`;
  return [
    row('acknowledgement, p50,', tell(p50Ms), 'ms', sent),
    row('acknowledgement, p99,', tell(p99Ms), 'ms', load in goalsMs ? `goal: ${goalsMs[load]} ms; ${late}` : late),
    row('acknowledgement, longest,', tell(maxMs), 'ms'),
    row(
      'change of a silence, p50,',
      tell(changes.p50Ms),
      'ms',
      `${changes.changes} changes, each with an audit record`,
    ),
    row('change of a silence, p99,', tell(changes.p99Ms), 'ms', `goal: ${changeGoalMs} ms`),
    row('refused', refused, 'bodies'),
    row('memory', Math.round(peakRssAnonMiB), 'MiB RssAnon, peak'),
  ];
}

const tell = (ms: number) => Number(ms.toPrecision(3));

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 4)));
