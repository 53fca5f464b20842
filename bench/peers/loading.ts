import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Contestant, Size } from './contestant.ts';
import type { Entry } from './entries.ts';
import { parseOnAllCores } from './json-parse.ts';
import { linesPerFile } from './lines.ts';
import { cpuSeconds, quiet, rssAnonMiB } from './process-use.ts';

/** One contestant with what has been measured of it. */
export interface Loaded {
  readonly entry: Entry;
  readonly contestant: Contestant;
  /** Events a second, by round. */
  readonly rates: number[];
  /** The same until nothing was left to be done for them behind, in steps of half a second. */
  readonly settledRates: number[];
  events: number;
  /** Seconds of the counted rounds, from the first line to the last that is acknowledged. */
  loadCpuS: number;
  /** The same, with what goes on afterwards: merges, figures, verdicts, checkpoints. */
  cpuS: number;
  /** Events of the counted rounds. */
  counted: number;
  peakRssAnonMiB: number;
  sizes: readonly Size[];
}

/**
 * Loads all of them, round after round, each alone at its time: after its turn it gets quiet before the next begins.
 * The first round warms up and is not counted. Returns lines a second of bare JSON.parse by round.
 */
export async function loadInTurn(
  all: readonly Loaded[],
  warmUp: readonly string[],
  rounds: readonly (readonly string[])[],
): Promise<readonly number[]> {
  for (const one of all) {
    await one.contestant.load(shareOf(one, warmUp));
    await quiet(one.contestant.pid);
    await toDisk();
    one.events += shareOf(one, warmUp).length * linesPerFile;
  }
  const parsed: number[] = [];
  for (const files of rounds) {
    for (const one of all) await turn(one, shareOf(one, files));
    parsed.push(await parseOnAllCores(files));
  }
  for (const one of all) {
    await watched(one, () => one.contestant.finish());
    one.sizes = await one.contestant.bytes();
  }
  return parsed;
}

async function turn(one: Loaded, files: readonly string[]): Promise<void> {
  const { contestant } = one;
  const began = performance.now();
  const { done: ms, quietAt } = await watched(one, async () => {
    const before = cpuSeconds(contestant.pid);
    const took = await contestant.load(files);
    one.loadCpuS += cpuSeconds(contestant.pid) - before;
    return took;
  });
  const events = files.length * linesPerFile;
  one.rates.push((events / ms) * 1000);
  one.settledRates.push((events / Math.max(ms, quietAt - began)) * 1000);
  one.events += events;
  one.counted += events;
}

/** Does it while looking at what the contestant takes, until it is quiet again. */
async function watched<T>(one: Loaded, act: () => Promise<T>): Promise<{ done: T; quietAt: number }> {
  const { pid } = one.contestant;
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

/** What one leaves for the system to write isn't to slow down the next. */
async function toDisk(): Promise<void> {
  await promisify(execFile)('sync');
}

function shareOf(one: Loaded, files: readonly string[]): readonly string[] {
  return files.slice(0, Math.ceil(files.length * one.entry.share));
}
