/**
 * `node retention-full-disk-child.ts <folder>`: a store on a small dedicated volume, in one process
 * throughout. Prints the result of each stage, as JSON lines.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../src/errors.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { networkRecord } from '../../store/records.ts';

const day = 24 * 3_600_000;
const [volume = ''] = process.argv.slice(2);
const dataDir = join(volume, 'data');
const others = join(volume, 'of-somebody-else');
mkdirSync(dataDir);
let now = Date.UTC(2026, 10, 20);
const store = openStore({
  dataDir,
  alertWindowMs: 3_600_000,
  clock: () => now,
  steadyMs: () => now,
  retention: { maxAgeMs: 10 * day, maxBytes: 2 ** 37 },
});
const reader = openReader(dataDir);

const rows = 500;
/** Returns text that uses disk space: few events fill the disk. */
const filling = () => randomBytes(1600).toString('base64');

async function commit(): Promise<ServiceError | undefined> {
  const builder = new BlockBuilder('network', now);
  for (let row = 0; row < rows; row++) builder.add(networkRecord({ timestamp: now + row, community_id: filling() }));
  const answer = { accepted: rows, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  try {
    await store.commit({ blocks: [builder.finish()], answer });
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(volume);
  return bavail * bsize;
}

const listed = () =>
  reader.listEvents({ table: 'network', filter: { terms: [] }, order: 'desc', per_page: 10, page: 1 }).total;
const told = (what: string, more: object) =>
  writeSync(
    1,
    `${JSON.stringify({ what, free: freeBytes(), listed: listed(), file: statSync(join(dataDir, 'siem.mdb')).size, ...more })}\n`,
  );
const shown = (refusal: ServiceError | undefined) => ({ code: refusal?.code, details: refusal?.details });

let accepted = 0;
let refusal = await commit();
while (refusal === undefined) {
  accepted += rows;
  refusal = await commit();
}
told('refused', { accepted, ...shown(refusal) });

writeFileSync(others, Buffer.alloc(20 * 2 ** 20));
told('another program uses more', shown(await commit()));
rmSync(others);

// All stored events are too old now, and not even the reserve is left.
now += 11 * day;
try {
  for (let bytes = 2 ** 20; bytes >= 4096; bytes /= 2)
    while (freeBytes() >= bytes) writeFileSync(others, Buffer.alloc(bytes), { flag: 'a' });
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
}
told('no free space', shown(await commit()));
await sleep(3000);
told('still no free space', {});
rmSync(others);

for (let waited = 0; listed() > 0 && waited < 600; waited++) await sleep(50);
const { unused_bytes, retention } = await store.status();
told('removed', { unused_bytes, expired: retention.expired });
const refused: unknown[] = [];
for (let n = 0; n < 60; n++) {
  const one = await commit();
  if (one !== undefined) refused.push(shown(one));
}
told('accepted again', { refused });
await store.close();
reader.close();
