/** Replaces the checkpoint key of a log on disk, and removes heads from its history. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { tamper } from './damaged-log.ts';
import { folder } from './fixture.ts';

function checkpointFiles(dataDir: string): { path: string; file: Record<string, unknown> }[] {
  const keys = join(dataDir, 'keys');
  return readdirSync(keys)
    .map((name) => ({ path: join(keys, name), file: JSON.parse(readFileSync(join(keys, name), 'utf8')) }))
    .filter(({ file }) => file.svc_purpose === 'checkpoint');
}

/** Adds an active checkpoint key with dates and origin of the old key. `keepOld`: what happens to the old key file. */
export async function replaceCheckpointKey(dataDir: string, keepOld: 'removed' | 'retired' | 'active'): Promise<void> {
  const [old] = checkpointFiles(dataDir);
  const other = folder();
  const ring = new KeyRing(join(other, 'keys'));
  await ring.create(['checkpoint'], Date.parse(String(old!.file.svc_created)), String(old!.file.svc_origin));
  const [fresh] = checkpointFiles(other);
  writeFileSync(
    join(dataDir, 'keys', `${fresh!.file.kid}.json`),
    JSON.stringify({ ...fresh!.file, svc_not_before: old!.file.svc_not_before }),
  );
  if (keepOld === 'removed') rmSync(old!.path);
  if (keepOld === 'retired') {
    const { d: _private, ...file } = old!.file;
    writeFileSync(old!.path, JSON.stringify({ ...file, svc_state: 'retired', svc_not_after: file.svc_created }));
  }
}

/** Removes the heads of this size, but not their numbers. */
export const removeHeads = (dataDir: string, size: number): Promise<void> =>
  tamper({ dataDir }, 'heads', (rows) => {
    for (const key of [...rows.getKeys()]) if ((key as number[])[0] === size) rows.removeSync(key);
  });

/** Removes the numbers of the heads of this size, and renumbers the other heads so that no number is missing. */
export const renumberHeads = (dataDir: string, size: number): Promise<void> =>
  tamper({ dataDir }, 'history', (rows) => {
    const values = [...rows.getKeys()].map((key) => Buffer.from(rows.getBinary(key)!));
    const kept = values.filter((value) => Number(value.readBigUInt64BE()) !== size);
    for (let n = 0; n < values.length; n++)
      if (n < kept.length) rows.putSync(n, kept[n]!);
      else rows.removeSync(n);
  });
