/** Makes backups in a loop during writes, or restores a backup, until it is killed. */
import { join } from 'node:path';
import { restoreBackup } from '../../src/backup/restore.ts';
import { startParts } from './parts.ts';
import { startWriters } from './writers.ts';

const [, , task, dataDir = '', backup = ''] = process.argv;

if (task === 'backup') {
  const parts = await startParts(dataDir);
  await parts.backups.recover();
  startWriters(parts, 5, 200);
  for (;;) {
    const { id } = await parts.backups.begin('system');
    process.stdout.write(`begun ${id}\n`);
    const { attributes } = await parts.backups.ended(id);
    if (attributes.state !== 'completed') throw new Error(attributes.error);
    process.stdout.write(`made ${id}\n`);
  }
}

await restoreBackup({
  backup,
  dataDir,
  anchorPath: join(dataDir, 'anchor.json'),
  replace: true,
  now: Date.now,
});
