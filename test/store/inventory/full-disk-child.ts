/**
 * `node full-disk-child.ts <folder>`: a store on a small dedicated volume. Commits batches until the volume
 * fills up during one, a few times more, then enlarges the volume and continues. Prints the counts after
 * each, as JSON lines.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openReader } from '../../../src/store/lmdb/reader.ts';
import { openStore } from '../../../src/store/lmdb/store.ts';
import { batch, counted, countedOfEvents, ssh } from './traffic.ts';

const [volume = ''] = process.argv.slice(2);
const dataDir = join(volume, 'data');
mkdirSync(dataDir);
/** Disables the reserve: only writes without any room are rejected. */
const freeBytes = () => {
  const { bavail, bsize } = statfsSync(volume);
  return bavail * bsize < 2 ** 20 ? 0 : Number.POSITIVE_INFINITY;
};
const open = () => openStore({ dataDir, alertWindowMs: 3_600_000, freeBytes });
let store = open();
const reader = openReader(dataDir);

/** Random text that uses disk space. */
const filling = () => randomBytes(300).toString('hex');

/** Makes two calls in one transaction, with a connection that both report. */
function commit(number: number): Promise<PromiseSettledResult<unknown>[]> {
  const part = (from: number, rows: number) =>
    batch(
      Array.from({ length: rows }, (_, i) =>
        ssh({
          dst_ip: `10.0.${number % 40}.${(from + i) % 9}`,
          connection_id: `C${number}-${from + i}`,
          community_id: filling(),
        }),
      ),
    );
  return Promise.allSettled([store.commit(part(0, 1000)), store.commit(part(999, 1200))]);
}

async function tell(what: string, refused: number): Promise<void> {
  const { assets, services, events } = await store.status();
  const right = isDeepStrictEqual(counted(reader), countedOfEvents(reader));
  writeSync(1, `${JSON.stringify({ what, refused, right, assets, services, events: events.network })}\n`);
}

let number = 0;
let refusals: unknown[] = [];
while (refusals.length === 0)
  refusals = (await commit(number++)).filter(({ status }) => status === 'rejected');
for (let i = 0; i < 3; i++)
  refusals.push(...(await commit(number++)).filter(({ status }) => status === 'rejected'));
for (const refusal of refusals) {
  const { code } = (refusal as { reason: { code?: string } }).reason;
  if (code !== 'UNAVAILABLE') throw (refusal as { reason: unknown }).reason;
}
execFileSync('mount', ['-o', 'remount,size=256m', volume]);
const more = await commit(number++);
await tell('room again', refusals.length);
await commit(0);
await tell('reported again', more.filter(({ status }) => status === 'rejected').length);
await store.close();
store = open();
await tell('opened again', 0);
await store.close();
reader.close();
