import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Entry } from './entries.ts';
import { parseOnAllCores } from './json-parse.ts';
import { linesPerFile } from './lines.ts';
import type { Peer, Size } from './peer.ts';
import { cpuSeconds, quiet, rssAnonMiB } from './process-use.ts';

/** One peer with its measurements. */
export interface Loaded {
  readonly entry: Entry;
  readonly peer: Peer;
  /** Events per second, by round. */
  readonly rates: number[];
  /** Events per second until background work ends. The end is measured in steps of half a second. */
  readonly settledRates: number[];
  events: number;
  /** CPU seconds of the counted rounds, from the first line to the last acknowledgement. */
  loadCpuS: number;
  /** CPU seconds including later work: merges, statistics, detection, checkpoints. */
  cpuS: number;
  /** Events of the counted rounds. */
  counted: number;
  peakRssAnonMiB: number;
  sizes: readonly Size[];
}

/**
 * Loads all peers, round after round, one at a time: each becomes idle before the next begins. The first round is
 * a warm-up and is not counted. Returns lines per second of bare JSON.parse by round.
 */
export async function loadInTurn(
  all: readonly Loaded[],
  warmUp: readonly string[],
  rounds: readonly (readonly string[])[],
): Promise<readonly number[]> {
  for (const one of all) {
    await one.peer.load(shareOf(one, warmUp));
    await quiet(one.peer.pid);
    await toDisk();
    one.events += shareOf(one, warmUp).length * linesPerFile;
  }
  const parsed: number[] = [];
  for (const files of rounds) {
    for (const one of all) await turn(one, shareOf(one, files));
    parsed.push(await parseOnAllCores(files));
  }
  for (const one of all) {
    await watched(one, () => one.peer.finish());
    one.sizes = await one.peer.bytes();
  }
  return parsed;
}

async function turn(one: Loaded, files: readonly string[]): Promise<void> {
  const { peer } = one;
  const began = performance.now();
  const { done: ms, quietAt } = await watched(one, async () => {
    const before = cpuSeconds(peer.pid);
    const took = await peer.load(files);
    one.loadCpuS += cpuSeconds(peer.pid) - before;
    return took;
  });
  const events = files.length * linesPerFile;
  one.rates.push((events / ms) * 1000);
  one.settledRates.push((events / Math.max(ms, quietAt - began)) * 1000);
  one.events += events;
  one.counted += events;
}

/** Runs `act` and measures the peer's resources until it is idle again. */
async function watched<T>(one: Loaded, act: () => Promise<T>): Promise<{ done: T; quietAt: number }> {
  const { pid } = one.peer;
  const before = cpuSeconds(pid);
  const look = () => {
    one.peakRssAnonMiB = Math.max(one.peakRssAnonMiB, rssAnonMiB(pid));
  };
  const sampler = setInterval(look, 100);
  try {
    const done = await act();
    return { done, quietAt: await quiet(pid) };
  } finally {
    clearInterval(sampler);
    look();
    one.cpuS += cpuSeconds(pid) - before;
    await toDisk();
  }
}

/** Flushes the system's buffers, so that writes of one peer do not slow down the next. */
async function toDisk(): Promise<void> {
  await promisify(execFile)('sync');
}

function shareOf(one: Loaded, files: readonly string[]): readonly string[] {
  return files.slice(0, Math.ceil(files.length * one.entry.share));
}
