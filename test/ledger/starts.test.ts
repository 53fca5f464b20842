/**
 * Starts after kills and clean stops at random moments. Each start must be healthy, and all auditors' pins
 * and callers' results must hold. Half of the starts also write siem.mdb, and each start compares siem.mdb
 * with the log. `STARTS=500 SEED=7 npm test -- test/ledger/starts.test.ts` runs more starts.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { audit, type Pin } from '../../src/client/auditor.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { readLogPositions } from '../../src/store/log-positions.ts';
import { sourceOf } from './audited.ts';
import { folder } from './fixture.ts';
import { randomSource } from './random-source.ts';

const starts = Number(process.env.STARTS ?? 5);
const seed = Number(process.env.SEED ?? 20_251_123);
/** Number of starts of one log. Each start reads the whole log, which earlier starts made longer. */
const startsOfLog = 50;

/** Totals over all starts. */
const seen = { kills: 0, stops: 0, withStore: 0, entries: 0, pins: 0, transactions: new Set<number>() };

afterAll(() => {
  const { kills, stops, withStore, entries, pins, transactions } = seen;
  process.stderr.write(
    `${starts} starts: ${kills} kills, ${stops} clean stops, ${withStore} of them with siem.mdb, ${transactions.size} of 256 remainders of the last ` +
      `transaction, ${entries} entries answered, ${pins} pins\n`,
  );
});

test.each(Array.from({ length: Math.ceil(starts / startsOfLog) }, (_, log) => log))(
  'starts of log %i after kills and clean stops at random transactions are healthy, and every pin holds',
  async (log) => {
    const random = randomSource(seed + log);
    const dataDir = folder();
    const pins: Pin[] = [];
    const answers: Appended[] = [];
    const count = Math.min(startsOfLog, starts - log * startsOfLog);
    for (let start = 0; start < count; start++) {
      const isKill = random() < 0.6;
      const hasStore = start % 4 !== 1 && start % 4 !== 2; // pairs of successive starts have all four combinations
      answers.push(...(await runChild(dataDir, start, isKill ? 'SIGKILL' : 'SIGTERM', hasStore, random)));
      if (hasStore) seen.withStore++;
      seen[isKill ? 'kills' : 'stops']++;
      seen.transactions.add(lastTransaction(dataDir) % 256);
      expect((await fsck({ dataDir })).findings, `start ${start}`).toEqual([]);

      const ledger = await openLedger({ dataDir, logPositions: () => readLogPositions(dataDir) });
      const { size, health, findings, warnings } = await ledger.status();
      // The first kill may precede the first write of the anchor.
      expect({ health, findings }, `start ${start}`).toEqual({ health: { state: 'ok' }, findings: [] });
      if (start > 0) expect(warnings, `start ${start}`).toEqual([]);
      expect(answers.filter(({ leaf_index }) => leaf_index >= size)).toEqual([]);
      for (const { id, leaf_index, leaf_hash } of sampleOf(answers, 20, random))
        expect(await ledger.leaf({ entry_id: id })).toMatchObject({ leaf_index, leaf_hash });
      for (const pin of start === count - 1 ? pins : sampleOf(pins, 10, random))
        expect(await audit(sourceOf(ledger), pin, { now: Date.now() })).toHaveProperty('pin');
      if (size > 0) {
        const found = await audit(sourceOf(ledger), undefined, { now: Date.now() });
        expect(found.status).toBe('pinned');
        pins.push((found as { pin: Pin }).pin);
      }
      await ledger.close();
    }
    seen.entries += answers.length;
    seen.pins += pins.length;
  },
  startsOfLog * 10_000,
);

/** Lets a process append for a random time, then ends the process. Returns the results of its appends. */
async function runChild(
  dataDir: string,
  start: number,
  signal: 'SIGKILL' | 'SIGTERM',
  hasStore: boolean,
  random: () => number,
): Promise<Appended[]> {
  const script = new URL('./starts-child.ts', import.meta.url).pathname;
  const args = [
    script,
    dataDir,
    String(start * 100_000),
    String(Math.floor(random() * 2 ** 32)),
    ...(hasStore ? ['store'] : []),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const ended = new Promise<string>((resolve) => child.on('close', (code, by) => resolve(by ?? `exit ${code}`)));
  const isEarly = start > 0 && signal === 'SIGKILL' && random() < 0.2; // whether the kill comes while the process starts
  while (!isEarly && !out.includes('ready') && child.exitCode === null) await setTimeout(5);
  await setTimeout(random() * (isEarly ? 400 : 150));
  child.kill(signal);
  const end = await ended;
  if (end !== (signal === 'SIGKILL' ? 'SIGKILL' : 'exit 0')) throw new Error(`the child ended with ${end}: ${errors}`);
  const lines = out.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).filter((line) => line.ready === undefined);
}

function sampleOf<T>(all: readonly T[], count: number, random: () => number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, () => all[Math.floor(random() * all.length)]!);
}

function lastTransaction(dataDir: string): number {
  const bytes = readFileSync(join(dataDir, 'ledger.mdb'));
  return Number([152, 4096 + 152].map((at) => bytes.readBigUInt64LE(at)).reduce((a, b) => (a > b ? a : b)));
}
