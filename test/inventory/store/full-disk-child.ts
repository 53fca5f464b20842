/**
 * `node full-disk-child.ts <folder> fill|continue`: a store on a small dedicated volume. `fill` commits batches
 * until a write runs out of space and ends the process; `continue` opens the remaining store on the
 * enlarged volume. Prints the counts, as JSON lines.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isFailedWrite } from '../../../src/database/failed-write.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { batch, counted, countedOfEvents, ssh } from './traffic.ts';

const [volume = '', stage] = process.argv.slice(2);
const dataDir = join(volume, 'data');
mkdirSync(dataDir, { recursive: true });
/** Disables the reserve, so that LMDB itself runs out of space. */
const freeBytes = () => Number.POSITIVE_INFINITY;
const open = () => openStore({ dataDir, alertWindowMs: 3_600_000, freeBytes });
let store = open();
const reader = openReader(dataDir);

/** Returns random text that uses disk space. */
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

const print = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);

async function tell(what: string): Promise<void> {
  await store.processed();
  const { assets, services, events } = await store.status();
  const right = isDeepStrictEqual(counted(reader), countedOfEvents(reader));
  print({ what, right, assets, services, events: events.network });
}

if (stage === 'fill') {
  let acknowledged = 0;
  process.on('uncaughtException', (error) => {
    print({ what: 'ended', isFailedWrite: isFailedWrite(error), acknowledged });
    process.kill(process.pid, 'SIGKILL');
  });
  for (let number = 0; ; number++) {
    for (const { status } of await commit(number)) {
      if (status === 'rejected') throw new Error('a call was rejected');
    }
    acknowledged += 2200;
  }
}
await tell('opened');
const results = await commit(1000);
await commit(0);
await tell(`continued with ${results.map(({ status }) => status)}`);
await store.close();
store = open();
await tell('opened again');
await store.close();
reader.close();
