/**
 * How does Candor compare with alternative engines: ClickHouse's and DuckDB's, embedded, and PostgreSQL's COPY? The
 * same Zeek conn lines are loaded into typed columns, in alternating rounds; then the same queries run on the same
 * events. The same rounds include a bare JSON.parse of these lines on all cores. Missing peers are downloaded with npm
 * into a cache folder, or omitted with a row that says so.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askInTurn } from './peers/asking.ts';
import type { Candor } from './peers/candor.ts';
import { type Entry, entries } from './peers/entries.ts';
import { linesPerFile, writeLines } from './peers/lines.ts';
import { type Loaded, loadInTurn } from './peers/loading.ts';
import { leftOutRow, loadRows, questionRows } from './peers/rows.ts';
import type { BenchRow } from './result.ts';

/**
 * Runs the comparison. Takes seven minutes, half of them for queries and pauses; 100,000 events in two rounds take one
 * and a half minutes.
 */
export async function run(events = 2_000_000, rounds = 4): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-peers-'));
  // If this process runs as root, PostgreSQL runs as another user and reads the lines itself.
  chmodSync(folder, 0o755);
  const lines = join(folder, 'lines');
  mkdirSync(lines);
  const all: Loaded[] = [];
  const leftOut: BenchRow[] = [];
  const running = new Set<Loaded>();
  try {
    for (const entry of entries) {
      const started = await start(entry, folder);
      if ('unit' in started) leftOut.push(started);
      else {
        all.push(started);
        running.add(started);
      }
    }
    const files = writeLines(lines, events);
    const warmUp = Math.max(1, Math.floor(files.length / 20));
    const perRound = Math.floor((files.length - warmUp) / rounds);
    if (perRound < 1) throw new Error(`too few events for ${rounds} rounds: ${events}`);
    const used = files.slice(0, warmUp + perRound * rounds);
    const parsed = await loadInTurn(
      all,
      used.slice(0, warmUp),
      Array.from({ length: rounds }, (_, n) => used.slice(warmUp + n * perRound, warmUp + (n + 1) * perRound)),
    );

    const asked = await keepOneOfEach(all, running);
    for (const peer of asked) await peer.prepare();
    const candor = asked[0] as Candor;
    const named = await candor.sample(20);
    const answers = await askInTurn(asked, used, named);
    return [
      ...loadRows(all, parsed, { lines: perRound * linesPerFile, rounds }),
      ...leftOut,
      ...questionRows(answers, await candor.idleRequests(200), used.length * linesPerFile),
    ];
  } finally {
    for (const { peer } of running) await peer.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(entry: Entry, folder: string): Promise<Loaded | BenchRow> {
  try {
    const peer = await entry.start(folder);
    if (peer === undefined) return leftOutRow(entry, 'it is not installed');
    return {
      entry,
      peer,
      rates: [],
      settledRates: [],
      events: 0,
      loadCpuS: 0,
      cpuS: 0,
      counted: 0,
      peakRssAnonMiB: 0,
      sizes: [],
    };
  } catch (error) {
    if (entry.engine === 'candor') throw error;
    return leftOutRow(entry, error instanceof Error ? error.message : String(error));
  }
}

/**
 * Keeps, for the queries, the first variant of each engine that has all lines. Stops all other variants, whose results
 * remain.
 */
async function keepOneOfEach(all: readonly Loaded[], running: Set<Loaded>) {
  const asked = new Map<string, Loaded>();
  for (const one of all) if (one.entry.share === 1 && !asked.has(one.entry.engine)) asked.set(one.entry.engine, one);
  for (const one of all) {
    if (asked.get(one.entry.engine) === one) continue;
    await one.peer.stop();
    running.delete(one);
  }
  return [...asked.values()].map(({ peer }) => peer);
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 2_000_000), Number(process.argv[3] ?? 4)));
