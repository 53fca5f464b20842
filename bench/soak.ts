/**
 * Does anonymous memory stay flat over an hour of load? Conn and DNS lines that are always new (times follow the clock,
 * identifiers are unique) arrive at a given rate, whether or not the service keeps up. Clients read at the same time:
 * each second the newest page, one host's events, the dashboard and the alerts; each minute an export of several
 * seconds' worth of events; and one WebSocket subscriber all the time. The results of each minute are printed to
 * stderr, so that a run that is stopped early leaves its figures.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import WebSocket from 'ws';
import { type Service, startService, tokenFor } from '../scripts/service.ts';
import { connLines } from '../scripts/traffic/index.ts';
import { type BenchRow, rowsAbout } from './result.ts';
import { dnsLines } from './sigma-rules.ts';

const question = (seconds: number, rate: number) =>
  `Anonymous memory over ${Math.round(seconds / 60)} minutes of ${rate.toLocaleString('en')} events/s and queries`;
/** Lines per body, of which a fifth is DNS. */
const linesPerBody = { conn: 1600, dns: 400 };
const eventsPerBody = linesPerBody.conn + linesPerBody.dns;
const sampleEveryMs = 10_000;
const exportedEvents = 50_000;
const exportEveryS = 60;
/** A slower response counts as failed. */
const answerWithinMs = 60_000;

const asked = {
  'newest page': () => '/api/v1/events/network?per_page=50',
  'one host': (second) => `/api/v1/events/network?ip=10.20.${second % 32}.${1 + (second % 254)}&per_page=50`,
  dashboard: () => '/api/v1/analytics/dashboard',
  alerts: () => '/api/v1/alerts?per_page=50',
} as const satisfies Record<string, (second: number) => string>;
type Asked = keyof typeof asked;

export async function run(seconds = 3600, eventsPerSecond = 14_000): Promise<BenchRow[]> {
  const service = await startService();
  try {
    const soak = new Soak(service, seconds, await tokenFor(service, 'sensor'), await tokenFor(service, 'analyst'));
    await soak.run(eventsPerSecond);
    return soak.rows(question(seconds, eventsPerSecond));
  } finally {
    await service.stop();
  }
}

interface Sample {
  readonly atMs: number;
  readonly accepted: number;
  readonly anonMiB: number;
  readonly fileMiB: number;
}

interface Answer {
  readonly asked: Asked;
  readonly quarter: number;
  /** Duration from the due time, in milliseconds. */
  readonly ms: number;
}

class Soak {
  readonly #service: Service;
  readonly #forMs: number;
  readonly #sensor: Record<string, string>;
  readonly #analyst: Record<string, string>;
  readonly #samples: Sample[] = [];
  readonly #answers: Answer[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #start = 0;
  #accepted = 0;
  #refusedBodies = 0;
  /** Bodies whose connection failed. */
  #lostBodies = 0;
  #failedQueries = 0;
  #exported = 0;
  #messages = 0;
  #uncounted = 0;

  constructor(service: Service, seconds: number, sensor: string, analyst: string) {
    this.#service = service;
    this.#forMs = seconds * 1000;
    this.#sensor = { authorization: `Bearer ${sensor}`, 'content-type': 'application/x-ndjson' };
    this.#analyst = { authorization: `Bearer ${analyst}` };
  }

  /** Resolves when the last body is acknowledged and all events are counted. */
  async run(eventsPerSecond: number): Promise<void> {
    this.#start = performance.now();
    const socket = this.#subscribe();
    await Promise.all([this.#load(eventsPerSecond), this.#people(), this.#watch()]);
    await Promise.all(this.#underWay);
    do await this.#look();
    while (this.#uncounted > 0);
    this.#sample();
    socket.terminate();
  }

  get #elapsedMs(): number {
    return performance.now() - this.#start;
  }

  /** Sends each body when it is due: open loop. Later bodies don't wait for the response to an earlier one. */
  async #load(eventsPerSecond: number): Promise<void> {
    const lines = movingLines();
    for (let bodies = 0; this.#elapsedMs < this.#forMs; bodies++) {
      this.#background(this.#post(nextBody(lines)));
      await setTimeout((1000 * bodies * eventsPerBody) / eventsPerSecond - this.#elapsedMs);
    }
  }

  async #post(body: string): Promise<void> {
    const request = { method: 'POST', headers: this.#sensor, body };
    const response = await fetch(`${this.#service.url}/api/v1/ingest`, request).catch(() => undefined);
    if (response === undefined) {
      this.#lostBodies++;
      return;
    }
    if (response.ok) {
      const { data } = (await response.json()) as { data: { accepted: number } };
      this.#accepted += data.accepted;
      return;
    }
    await response.arrayBuffer();
    if (response.status !== 429 && response.status !== 503) throw new Error(`a body: ${response.status}`);
    this.#refusedBodies++;
  }

  async #people(): Promise<void> {
    for (let second = 1; second * 1000 < this.#forMs; second++) {
      await setTimeout(second * 1000 - this.#elapsedMs);
      for (const name of Object.keys(asked) as Asked[]) this.#background(this.#ask(name, second));
      if (second % exportEveryS === 0) this.#background(this.#export());
    }
  }

  async #ask(name: Asked, second: number): Promise<void> {
    const answer = await this.#get(asked[name](second), (response) => response.arrayBuffer());
    if (answer === undefined) return;
    const quarter = Math.min(3, Math.floor((4000 * second) / this.#forMs));
    this.#answers.push({ asked: name, quarter, ms: this.#elapsedMs - second * 1000 });
  }

  /** Exports all events as lines; disconnects when enough lines were read. */
  async #export(): Promise<void> {
    const headers = { accept: 'application/x-ndjson' };
    const read = async ({ body }: Response) => {
      for await (const chunk of body as ReadableStream<Uint8Array>) {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
        if (lines >= exportedEvents) break;
      }
    };
    let lines = 0;
    await this.#get('/api/v1/events/network', read, headers);
    this.#exported += lines;
  }

  /** Returns undefined if the response is not complete in time, or is a refusal, which is counted. */
  async #get<T>(
    path: string,
    read: (response: Response) => Promise<T>,
    headers: Record<string, string> = {},
  ): Promise<T | undefined> {
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      const response = await fetch(this.#service.url + path, {
        headers: { ...this.#analyst, ...headers },
        signal,
      });
      if (response.ok) return await read(response);
      await response.arrayBuffer();
    } catch (error) {
      // Timeout, or the connection failed (fetch throws a TypeError).
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
    }
    this.#failedQueries++;
    return undefined;
  }

  #subscribe(): WebSocket {
    const socket = new WebSocket(`${this.#service.url.replace('http', 'ws')}/ws`, { headers: this.#analyst });
    const subscriptions = [{ channel: 'alerts' }, { channel: 'events.network', filters: { dst_port: [25] } }] as const;
    socket.on('open', () => {
      for (const subscription of subscriptions) socket.send(JSON.stringify({ type: 'subscribe', ...subscription }));
    });
    socket.on('message', () => this.#messages++);
    return socket;
  }

  async #watch(): Promise<void> {
    for (let sample = 1; sample * sampleEveryMs <= this.#forMs; sample++) {
      await setTimeout(sample * sampleEveryMs - this.#elapsedMs);
      this.#sample();
      if ((sample * sampleEveryMs) % 60_000 !== 0) continue;
      await this.#look();
      process.stderr.write(`${this.#progress()}\n`);
    }
  }

  #sample(): void {
    const status = readFileSync(`/proc/${this.#service.pid}/status`, 'utf8');
    const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
    this.#samples.push({
      atMs: this.#elapsedMs,
      accepted: this.#accepted,
      anonMiB: mib('RssAnon'),
      fileMiB: mib('RssFile'),
    });
  }

  async #look(): Promise<void> {
    const status = await this.#get('/api/v1/status', async (response) => {
      return (await response.json()) as { data: { attributes: { store: { uncounted_events: number } } } };
    });
    if (status === undefined) return;
    this.#uncounted = status.data.attributes.store.uncounted_events;
    await setTimeout(this.#uncounted === 0 ? 0 : 20);
  }

  #progress(): string {
    const { anonMiB = 0, fileMiB = 0 } = this.#samples.at(-1) ?? {};
    const latest = this.#answers.slice(-60 * Object.keys(asked).length).map(({ ms }) => ms);
    return [
      `minute ${Math.round(this.#elapsedMs / 60_000)}: ${millions(this.#accepted)} million events`,
      `${this.#uncounted.toLocaleString('en')} of them not counted yet`,
      `RssAnon ${Math.round(anonMiB)} MiB, peak ${Math.round(this.#service.peakRssAnonMiB())}`,
      `RssFile ${Math.round(fileMiB)} MiB`,
      `siem.mdb ${Math.round(this.#databaseBytes / 2 ** 20)} MiB`,
      `queries p50 ${Math.round(quantile(latest, 0.5))} ms, p99 ${Math.round(quantile(latest, 0.99))} ms, ${this.#failedQueries} failed`,
      `${this.#exported.toLocaleString('en')} exported, ${this.#messages.toLocaleString('en')} live messages`,
      `${this.#refusedBodies} bodies refused, ${this.#lostBodies} lost`,
    ].join('; ');
  }

  get #databaseBytes(): number {
    return statSync(join(this.#service.dataDir, 'siem.mdb')).size;
  }

  /**
   * Runs work in the background. A failure ends the process: a soak that lost a part of its load would be meaningless.
   */
  #background(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.then(() => this.#underWay.delete(work));
  }

  rows(question: string): BenchRow[] {
    const row = rowsAbout(question);
    const at = (ms: number) => this.#samples.find(({ atMs }) => atMs >= ms) ?? this.#samples.at(-1)!;
    const memory = (variant: string, ms: number) =>
      row(variant, Math.round(at(ms).anonMiB), 'MiB RssAnon', `${millions(at(ms).accepted)} million events`);
    const second = this.#samples.filter(({ atMs }) => atMs >= this.#forMs / 2);
    const slope = slopeOf(second.map(({ accepted, anonMiB }) => [accepted / 1e6, anonMiB] as const));
    const names = Object.keys(asked) as Asked[];
    return [
      row('events stored', this.#accepted, 'events', `${this.#refusedBodies} bodies refused, ${this.#lostBodies} lost`),
      memory('after a minute', 60_000),
      memory('after a quarter', this.#forMs / 4),
      memory('after half', this.#forMs / 2),
      memory('at the end', this.#forMs),
      row('peak', Math.round(this.#service.peakRssAnonMiB()), 'MiB RssAnon', 'sampled ten times per second'),
      row('slope of the second half', slope, 'MiB per million events', 'least squares'),
      row('database', this.#databaseBytes / this.#accepted, 'bytes/event'),
      ...[0, 1, 2, 3].map((quarter) => {
        const its = this.#answers.filter((answer) => answer.quarter === quarter);
        const p99 = (answers: readonly Answer[]) =>
          Math.round(
            quantile(
              answers.map(({ ms }) => ms),
              0.99,
            ),
          );
        const each = names.map((name) => `${name} ${p99(its.filter((answer) => answer.asked === name))}`);
        return row(`queries, quarter ${quarter + 1}, p99`, p99(its), 'ms', each.join(', '));
      }),
      row('queries without an answer', this.#failedQueries, 'queries', `of ${this.#answers.length}`),
      row('exported', this.#exported, 'events'),
      row('live messages', this.#messages, 'messages'),
    ];
  }
}

/** Yields lines of a network whose sensor never stops, each with a new time and a new identifier. */
function* movingLines(): Generator<string, never> {
  const conn = connLines(7, Number.POSITIVE_INFINITY);
  const dns = dnsLines(100_000);
  for (let n = 0; ; ) {
    for (let i = 0; i < linesPerBody.conn; i++) yield moved(conn.next().value ?? '', n++);
    for (let i = 0; i < linesPerBody.dns; i++) yield moved(dns[n % dns.length] ?? '', n++);
  }
}

function nextBody(lines: Generator<string, never>): string {
  const body: string[] = [];
  for (let i = 0; i < eventsPerBody; i++) body.push(lines.next().value);
  return body.join('\n');
}

/** Returns the line with the current time and a new identifier. */
function moved(line: string, n: number): string {
  const rest = line.indexOf('"id.orig_h"');
  const micros = String(n % 1000).padStart(3, '0');
  return `{"ts":${(Date.now() / 1000).toFixed(3)}${micros},"uid":"C${n.toString(36).padStart(17, 'x')}",${line.slice(rest)}`;
}

const millions = (events: number) => (events / 1e6).toFixed(1);

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Returns the slope of the line that fits the points best (least squares). */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const both = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const squares = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return squares === 0 ? 0 : both / squares;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 3600), Number(process.argv[3] ?? 14_000)));
