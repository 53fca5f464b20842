import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/database/lmdb.ts';

/** Rewrites existing data until the file has reached this transaction. */
export async function spendTransactions(dataDir: string, until: number): Promise<void> {
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const meta = root.openDB({ name: 'meta', encoding: 'binary' });
  const row = Buffer.from(meta.getBinary('format')!);
  for (let n = lastTransaction(dataDir); n < until; n++) root.transactionSync(() => meta.putSync('format', row));
  await root.close();
}

export function lastTransaction(dataDir: string): number {
  const bytes = readFileSync(join(dataDir, 'ledger.mdb'));
  return Number([152, 4096 + 152].map((at) => bytes.readBigUInt64LE(at)).reduce((a, b) => (a > b ? a : b)));
}
