/**
 * Do memory, rates and latencies stay flat under load for an hour? First, Zeek conn lines in bodies of 100 are sent
 * over 32 connections for ten minutes, each body after the acknowledgement of the one before. Then, on another service,
 * conn and DNS lines with the current time arrive for an hour in bodies of 2,000 in an open loop, at 80 % of the rate
 * that this service reached just before in a closed loop, including detection and statistics. Clients read during the
 * load: each second the newest page, one host's events, the dashboard and the alerts; each minute an export of 50,000
 * events; and one WebSocket subscriber all the time. Each curve has a point for each minute. The points are also
 * printed to stderr, so that a run that is stopped early leaves its figures.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import WebSocket from 'ws';
import { type Service, startService, tokenFor } from '../scripts/service.ts';
import { cpuNote, type Measured, measure, startLoader } from './load/loader.ts';
import type { Plan, Report } from './load/plan.ts';
import { number } from './page.ts';
import { rssAnonMiB } from './peers/process-use.ts';
import { type BenchRow, quantile, rowOfRounds, rowsAbout } from './result.ts';

const small = { format: 'Zeek conn, JSON', linesPerBody: 100, connections: 32 } as const;
const large = { format: 'Zeek conn, JSON', linesPerBody: 10_000, connections: 8 } as const;
const closed = { format: 'a site, now', linesPerBody: 2000, connections: 8, lines: 400_000 } as const;
const open = { ...closed, connections: 512 } as const;
const load = 0.8;
const exportedEvents = 50_000;
/** A slower response counts as failed. */
const answerWithinMs = 60_000;

const asked = {
  'newest page': () => '/api/v1/events/network?per_page=50',
  'one host': (second) => `/api/v1/events/network?ip=10.20.${second % 32}.${1 + (second % 254)}&per_page=50`,
  dashboard: () => '/api/v1/analytics/dashboard',
  alerts: () => '/api/v1/alerts?per_page=50',
} as const satisfies Record<string, (second: number) => string>;
type Asked = keyof typeof asked;

/**
 * Measures both loads.
 *
 * @param minutes - length of the open-loop load, whose curves have one point for each minute
 * @param smallMinutes - length of the load of small bodies, which runs first and has curves of its own
 * @param minuteS - length of a minute in seconds; shorter in a trial run
 */
export async function run(minutes = 60, smallMinutes = 10, minuteS = 60): Promise<BenchRow[]> {
  return [...(await withService(smallRows, smallMinutes, minuteS)), ...(await withService(soakRows, minutes, minuteS))];
}

/** A plan without the URL and the token of the service. */
type Load = Omit<Plan, 'url' | 'token'>;

interface Loaded {
  readonly service: Service;
  readonly analyst: string;
  /** Sends a load, and resolves with the last response. */
  readonly send: (load: Load) => Promise<Report>;
  /** Sends a load, and resolves when all events are counted. */
  readonly measure: (load: Load) => Promise<Measured>;
}

async function withService(
  rowsOf: (loaded: Loaded, minutes: number, minuteS: number) => Promise<BenchRow[]>,
  minutes: number,
  minuteS: number,
): Promise<BenchRow[]> {
  const loader = startLoader();
  const service = await startService();
  try {
    const [token, analyst] = [await tokenFor(service, 'sensor'), await tokenFor(service, 'analyst')];
    const planOf = (its: Load): Plan => ({ ...its, url: service.url, token });
    const send = (its: Load) => loader.run(planOf(its));
    const measured = (its: Load) => measure(loader, service, planOf(its), analyst);
    return await rowsOf({ service, analyst, send, measure: measured }, minutes, minuteS);
  } finally {
    await loader.stop();
    await service.stop();
  }
}

async function smallRows({ measure }: Loaded, minutes: number, minuteS: number): Promise<BenchRow[]> {
  // Warm-up: code is compiled, and bodies are created.
  await measure({ ...large, seconds: minuteS / 20 });
  const most = rateOf(await measure({ ...large, seconds: minuteS / 4 }));
  const measured: Measured[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const one = await measure({ ...small, seconds: minuteS });
    measured.push(one);
    print(`bodies of 100, minute ${minute}`, { 'events/s': rateOf(one), p99Ms: one.p99Ms, MiB: one.peakRssAnonMiB });
  }
  const curve = curvesOf(measured, 'Conn lines in bodies of 100, 32 at a time, each minute');
  return [
    curve('detected on and counted', 'events/s', rateOf, cpuNote(measured)),
    curve('share of the rate in bodies of 10,000, 8 at a time', '×', (one) => rateOf(one) / most),
    curve('acknowledgement, p99', 'ms', ({ p99Ms }) => p99Ms),
    curve('memory', 'MiB RssAnon, peak', ({ peakRssAnonMiB }) => peakRssAnonMiB),
  ];
}

async function soakRows(
  { service, analyst, send, measure }: Loaded,
  minutes: number,
  minuteS: number,
): Promise<BenchRow[]> {
  await measure({ ...closed, seconds: minuteS / 12 });
  const most = rateOf(await measure({ ...closed, seconds: minuteS / 3 }));
  const requestsPerS = (load * most) / open.linesPerBody;
  const clients = new Clients(service, analyst);
  clients.start(minuteS);
  const points: Point[] = [];
  try {
    for (let minute = 1; minute <= minutes; minute++) {
      const report = await send({ ...open, seconds: minuteS, requestsPerS });
      points.push({ ...report, ...(await clients.look()) });
      print(`minute ${minute}`, points.at(-1)!);
    }
  } finally {
    await clients.stop();
  }
  const { failed, exported, messages } = clients;
  const question = `${number(requestsPerS * open.linesPerBody)} conn and DNS lines/s (80 % load) and queries, each minute`;
  const curve = curvesOf(points, question);
  const last = points.at(-1)!;
  const stored = points.reduce((sum, { events }) => sum + events, 0);
  const row = rowsAbout(question);
  return [
    row('events', stored, 'events', `${points.reduce((sum, { refused }) => sum + refused, 0)} bodies were refused`),
    curve('memory', 'MiB RssAnon', ({ anonMiB }) => anonMiB),
    row('memory, peak', service.peakRssAnonMiB(), 'MiB RssAnon', 'sampled ten times per second'),
    row('memory, second half', slopeOf(points.slice(minutes / 2)), 'MiB per million events', 'least squares'),
    curve('acknowledgement, p50', 'ms', ({ p50Ms }) => p50Ms),
    curve('acknowledgement, p99', 'ms', ({ p99Ms }) => p99Ms),
    curve('not counted yet', 'events', ({ uncounted }) => uncounted),
    curve('queries, p50', 'ms', ({ queriesP50Ms }) => queriesP50Ms, 'from the due time'),
    curve('queries, p99', 'ms', ({ queriesP99Ms }) => queriesP99Ms, 'from the due time'),
    curve('blocks of events', 'blocks', ({ blocks }) => blocks),
    curve('runs of the topology', 'runs', ({ runs }) => runs),
    curve('database', 'MiB', ({ databaseMiB }) => databaseMiB),
    row('database', (last.databaseMiB * 2 ** 20) / last.stored, 'bytes/event'),
    row('queries without an answer', failed, 'queries', `of ${clients.answered + failed}`),
    row('exported', exported, 'events'),
    row('live messages', messages, 'messages'),
  ];
}

/** The counts in the service's status that are shown. */
type StoreFigures = Record<'network_events' | 'dns_events' | 'uncounted_events' | 'blocks' | 'topology_runs', number>;

/** The clients that read during the load. Counts are since the start, and times since the last call of `look`. */
class Clients {
  readonly #service: Service;
  readonly #headers: Record<string, string>;
  readonly #work = new Set<Promise<void>>();
  readonly #ended = new AbortController();
  #times: number[] = [];
  failed = 0;
  answered = 0;
  exported = 0;
  messages = 0;

  constructor(service: Service, token: string) {
    this.#service = service;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  start(exportEveryS: number): void {
    const socket = new WebSocket(`${this.#service.url.replace('http', 'ws')}/ws`, { headers: this.#headers });
    const subscriptions = [{ channel: 'alerts' }, { channel: 'events.network', filters: { dst_port: [25] } }] as const;
    socket.on('open', () => {
      for (const subscription of subscriptions) socket.send(JSON.stringify({ type: 'subscribe', ...subscription }));
    });
    socket.on('message', () => this.messages++);
    this.#ended.signal.addEventListener('abort', () => socket.terminate());
    this.#background(this.#everySecond(exportEveryS));
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async look() {
    const status = await this.#get('/api/v1/status', async (response) => {
      return (await response.json()) as { data: { attributes: { store: StoreFigures } } };
    });
    const store = status?.data.attributes.store;
    const times = this.#times.sort((a, b) => a - b);
    this.#times = [];
    return {
      anonMiB: rssAnonMiB(this.#service.pid),
      databaseMiB: statSync(join(this.#service.dataDir, 'siem.mdb')).size / 2 ** 20,
      stored: (store?.network_events ?? Number.NaN) + (store?.dns_events ?? Number.NaN),
      uncounted: store?.uncounted_events ?? Number.NaN,
      blocks: store?.blocks ?? Number.NaN,
      runs: store?.topology_runs ?? Number.NaN,
      queriesP50Ms: quantile(times, 0.5),
      queriesP99Ms: quantile(times, 0.99),
    };
  }

  async #everySecond(exportEveryS: number): Promise<void> {
    const began = performance.now();
    for (let second = 1; ; second++) {
      const dueAt = began + second * 1000;
      await setTimeout(dueAt - performance.now());
      if (this.#ended.signal.aborted) return;
      for (const name of Object.keys(asked) as Asked[]) this.#background(this.#ask(asked[name](second), dueAt));
      if (second % exportEveryS === 0) this.#background(this.#export());
    }
  }

  async #ask(path: string, dueAt: number): Promise<void> {
    const answer = await this.#get(path, (response) => response.arrayBuffer());
    if (answer === undefined) return;
    this.answered++;
    this.#times.push(performance.now() - dueAt);
  }

  /** Exports all events as lines; disconnects when enough lines were read. */
  async #export(): Promise<void> {
    let lines = 0;
    const read = async ({ body }: Response) => {
      for await (const chunk of body as ReadableStream<Uint8Array>) {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
        if (lines >= exportedEvents) break;
      }
    };
    await this.#get('/api/v1/events/network', read, { accept: 'application/x-ndjson' });
    this.exported += lines;
  }

  /** Returns undefined after a timeout, a connection error or an error status, and counts each of them in `failed`. */
  async #get<T>(
    path: string,
    read: (response: Response) => Promise<T>,
    headers: Record<string, string> = {},
  ): Promise<T | undefined> {
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      const response = await fetch(this.#service.url + path, { headers: { ...this.#headers, ...headers }, signal });
      if (response.ok) return await read(response);
      await response.arrayBuffer();
    } catch (error) {
      // Timeout, or the connection failed (fetch throws a TypeError).
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
    }
    this.failed++;
    return undefined;
  }

  /**
   * Runs work in the background. A failure ends the process, because results of a run without a part of its load are
   * useless.
   */
  #background(work: Promise<void>): void {
    this.#work.add(work);
    void work.then(() => this.#work.delete(work));
  }
}

type Point = Report & Awaited<ReturnType<Clients['look']>>;

/** Returns a function that makes one row per measure: median and range of its values, and at most twelve of them. */
function curvesOf<T>(points: readonly T[], question: string) {
  return (variant: string, unit: string, of: (point: T) => number, note = ''): BenchRow => {
    const values = points.map(of);
    const step = Math.ceil(values.length / 12);
    const shown = values.filter((_, at) => (at + 1) % step === 0).map((value) => number(value));
    const curve = `every ${step === 1 ? 'minute' : `${step} minutes`}: ${shown.join(', ')}`;
    return rowOfRounds({ question, variant, unit, note: [note, curve].filter(Boolean).join('; ') }, values);
  };
}

const rateOf = ({ events, countedS }: Measured) => events / countedS;

/** Returns MiB of private memory per million events: the slope of the line that fits the points best (least squares). */
function slopeOf(points: readonly Point[]): number {
  const [x, y] = [points.map(({ stored }) => stored / 1e6), points.map(({ anonMiB }) => anonMiB)];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(x), mean(y)];
  const both = x.reduce((sum, one, at) => sum + (one - meanX) * (y[at]! - meanY), 0);
  const squares = x.reduce((sum, one) => sum + (one - meanX) ** 2, 0);
  return squares === 0 ? 0 : both / squares;
}

function print(name: string, figures: object): void {
  const texts = Object.entries(figures).map(([figure, value]) => `${figure} ${number(Number(value))}`);
  process.stderr.write(`${name}: ${texts.join(', ')}\n`);
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 60)));
