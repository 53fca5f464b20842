/** The receivers of the same lines, Candor and the syslog daemons, and their measurement in alternating rounds. */
import { closeSync, openSync, readFileSync, readSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shipper, shipperVersion } from '../../scripts/log-shippers.ts';
import { login, startService, tokenFor } from '../../scripts/service.ts';
import { status } from '../bytes-per-event.ts';
import { type Loader, measure } from '../load/loader.ts';
import { cpuSeconds, quiet, rssAnonMiB } from '../peers/process-use.ts';
import { linesPerBatch, type Output, startDaemon } from './daemon.ts';

export interface Receiver {
  readonly name: string;
  /** Product, and the work that it does. */
  readonly note: string;
  readonly pid: number;
  /** Receives this number of bodies. */
  load(bodies: number): Promise<Load>;
  /** Returns the bytes on disk per line, by kind of stored data. Called after the last load. */
  bytesPerLine(): Promise<readonly (readonly [string, number])[]>;
  stop(): Promise<void>;
}

interface Load {
  readonly lines: number;
  /** Seconds from the first byte until the last line is acknowledged or in the file. */
  readonly writtenS: number;
  /** Seconds until detection and statistics have processed the last line. */
  readonly countedS?: number;
  /** CPU seconds of the load generator. */
  readonly loaderCpuS: number;
}

export interface Round extends Load {
  /** CPU seconds of the receiver until it was idle. */
  readonly cpuS: number;
  readonly peakRssAnonMiB: number;
}

const plan = { format: 'Zeek conn, JSON', connections: 4, seconds: 600 } as const;
const sampleMs = 50;
const pollMs = 10;
const stallMs = 20_000;

export async function startCandor(dataDir: string, loader: Loader, linesPerBody: number): Promise<Receiver> {
  const service = await startService({ dataDir });
  const [token, reader] = [await tokenFor(service, 'sensor'), await login(service)];
  let lines = 0;
  return {
    name: 'candor',
    note: `HTTP, bodies of ${linesPerBody.toLocaleString('en')} lines, ${plan.connections} at a time; acknowledged after a flush, as typed columns with an index`,
    pid: service.pid,
    async load(requests) {
      const sent = { ...plan, url: service.url, token, linesPerBody, requests };
      const { events, elapsedS, countedS, cpuS } = await measure(loader, service, sent, reader);
      lines += events;
      return { lines: events, writtenS: elapsedS, countedS, loaderCpuS: cpuS };
    },
    async bytesPerLine() {
      const { store, retention } = await status(service.url, reader);
      return [
        ['events', retention.event_bytes / lines],
        ['the whole database', (store.bytes - store.unused_bytes) / lines],
      ];
    },
    stop: async () => void (await service.stop()),
  };
}

interface SyslogOptions {
  readonly shipper: Shipper;
  readonly output: Output;
  /** Folder with the daemons' programs. */
  readonly unpacked: string;
  /** Folder for the daemon's files. */
  readonly folder: string;
}

/** Starts a daemon. Its file holds the lines of one load. */
export async function startSyslog(
  { shipper, output, unpacked, folder }: SyslogOptions,
  loader: Loader,
  linesPerBody: number,
): Promise<Receiver> {
  const version = shipperVersion(shipper, unpacked);
  const daemon = await startDaemon(shipper, output, unpacked, folder);
  const { url, file } = daemon;
  let bytesPerLine = 0;
  return {
    name: `${shipper}, ${output.fields} fields${output.flush ? ', flushed' : ''}`,
    note: `${shipper} ${version}; ${workOf(shipper, output)}`,
    pid: daemon.pid,
    async load(requests) {
      truncateSync(file);
      const lines = requests * linesPerBody;
      const began = performance.now();
      const [{ cpuS }, writtenS] = await Promise.all([
        loader.run({ ...plan, url, token: '', linesPerBody, requests }),
        untilWritten(file, lines).then(() => (performance.now() - began) / 1000),
      ]);
      checkLines(file, lines);
      bytesPerLine = statSync(file).size / lines;
      return { lines, writtenS, loaderCpuS: cpuS };
    },
    bytesPerLine: async () => [['', bytesPerLine]],
    stop: () => daemon.stop(),
  };
}

function workOf(shipper: Shipper, { fields, flush }: Output): string {
  const parser = {
    rsyslog: 'imptcp, mmjsonparse, omfile, one worker (default)',
    'syslog-ng': 'network, json-parser, file',
  }[shipper];
  const written =
    fields === 'all' ? `JSON${shipper === 'syslog-ng' ? ', numbers as texts' : ''}` : 'eleven of the fields as TSV';
  const flushed = flush ? `flushed after at most ${linesPerBatch.toLocaleString('en')} lines` : 'not flushed';
  return `${parser}; TCP, ${plan.connections} connections; ${written}, ${flushed}; no acknowledgement, typed columns, index, detection, counting`;
}

/**
 * Loads all receivers, round after round, one at a time: each is idle before the next begins. A shorter first round is
 * a warm-up and is not returned.
 */
export async function takeTurns(
  receivers: readonly Receiver[],
  bodies: number,
  rounds: number,
): Promise<ReadonlyMap<Receiver, readonly Round[]>> {
  const measured = new Map(receivers.map((receiver) => [receiver, [] as Round[]]));
  for (const receiver of receivers) await turn(receiver, Math.ceil(bodies / 3));
  for (let round = 0; round < rounds; round++)
    for (const [receiver, its] of measured) its.push(await turn(receiver, bodies));
  return measured;
}

async function turn({ pid, load }: Receiver, bodies: number): Promise<Round> {
  const before = cpuSeconds(pid);
  let peakRssAnonMiB = 0;
  const look = () => {
    peakRssAnonMiB = Math.max(peakRssAnonMiB, rssAnonMiB(pid));
  };
  const sampler = setInterval(look, sampleMs);
  try {
    const loaded = await load(bodies);
    look();
    await quiet(pid);
    return { ...loaded, cpuS: cpuSeconds(pid) - before, peakRssAnonMiB };
  } finally {
    clearInterval(sampler);
  }
}

/**
 * Resolves when the file has this number of lines; their last flush may still be in progress. Rejects if the file stops
 * growing earlier.
 */
async function untilWritten(path: string, lines: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(2 ** 20);
  const file = openSync(path, 'r');
  try {
    let [written, at, grewAt] = [0, 0, performance.now()];
    for (;;) {
      const read = readSync(file, chunk, 0, chunk.length, at);
      at += read;
      written += lineFeeds(chunk.subarray(0, read));
      if (written >= lines) return;
      if (read > 0) grewAt = performance.now();
      else if (performance.now() - grewAt > stallMs) throw new Error(`${written} of ${lines} lines were written`);
      if (read < chunk.length) await sleep(pollMs);
    }
  } finally {
    closeSync(file);
  }
}

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

/** @throws Error if the number of distinct connection ids is not `lines`, because lines were lost or not parsed */
function checkLines(path: string, lines: number): void {
  const ids = new Set(readFileSync(path, 'latin1').match(/(?<="uid":"|\t)C[0-9A-Za-z]{15,17}(?=["\t])/g));
  if (ids.size !== lines) throw new Error(`${path}: ${ids.size} connections of ${lines} lines`);
}
