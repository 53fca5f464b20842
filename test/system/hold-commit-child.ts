/** Holds the write lock of a database, so that no other process can commit, until its input ends. */
import { readSync, writeSync } from 'node:fs';
import { openDatabase } from '../../src/database/lmdb.ts';

const root = openDatabase(process.argv[2]!, { maxDbs: 16 });
root.transactionSync(() => {
  writeSync(1, 'held\n');
  readSync(0, Buffer.alloc(1));
});
await root.close();
