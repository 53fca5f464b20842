/**
 * `node full-disk-child.ts <folder>`: a log on a small dedicated volume. Appends until the ledger refuses;
 * then, with the check of free space disabled, until the disk refuses; then enlarges the volume and
 * continues. Prints observations as JSON lines.
 */
import { execFileSync } from 'node:child_process';
import { statfsSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Appended } from '../../src/ledger/ledger.ts';
import { type DurableLedger, type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { entry } from './fixture-entry.ts';
import { reverify } from './reverify.ts';

const [volume = ''] = process.argv.slice(2);
const dataDir = join(volume, 'data');
const filler = join(volume, 'filler');
const answers: Appended[] = [];
const fatal: unknown[] = [];
const free = () => {
  const { bavail, bsize } = statfsSync(volume);
  return bavail * bsize;
};
const large = (n: number) => entry(n, { text: 'x'.repeat(50_000) });

/** Appends entries one by one until one is refused. Returns the error. */
async function appendUntilRefused(ledger: DurableLedger): Promise<unknown> {
  for (;;) {
    try {
      answers.push(...(await ledger.append([large(answers.length)])));
    } catch (error) {
      return { code: (error as { code?: string }).code, details: (error as { details?: object }).details };
    }
  }
}

async function life(what: string, options: Partial<LedgerOptions>, act: (ledger: DurableLedger) => Promise<unknown>) {
  const ledger = await openLedger({ dataDir, onFatal: (error) => fatal.push(error), ...options });
  const seen = await act(ledger);
  await ledger.close();
  writeSync(1, `${JSON.stringify({ what, seen, logged: answers.length, fatal: fatal.map(String) })}\n`);
}

await life('refused', {}, async (ledger) => {
  const refused = await appendUntilRefused(ledger);
  await reverify(ledger, { answers });
  return { ...(refused as object), free: free() };
});
await life('broken', { freeBytes: () => Number.POSITIVE_INFINITY }, async (ledger) => {
  writeFileSync(filler, Buffer.alloc(free() - 300_000));
  return appendUntilRefused(ledger);
});
execFileSync('mount', ['-o', 'remount,size=64m', volume]);
fatal.length = 0;
await life('goes on', {}, async (ledger) => {
  const { health, size } = await ledger.status();
  const { head } = await reverify(ledger, { answers });
  answers.push(...(await ledger.append([entry(answers.length)])));
  await reverify(ledger, { pins: [head], answers });
  return { health, size };
});
