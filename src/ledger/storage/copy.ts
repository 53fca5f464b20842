import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder } from '../../durable-file.ts';
import { toJson } from '../heads.ts';
import type { LedgerCopy } from '../ledger.ts';
import type { LedgerStorage } from './storage.ts';

/**
 * Copies the log and its key files into an existing folder; all of it is flushed. No key may change meanwhile: then
 * the keys are those that signed what the copy holds. Private parts are copied as they lie there, encrypted or not.
 */
export async function copyLedger(
  storage: LedgerStorage,
  keysFolder: string,
  folder: string,
): Promise<LedgerCopy> {
  const head = await storage.copyTo(join(folder, 'ledger.mdb'));
  const names = (await readdir(keysFolder)).filter((name) => name.endsWith('.json'));
  await mkdir(join(folder, 'keys'), { mode: 0o700 });
  for (const name of names) await copyKey(join(keysFolder, name), join(folder, 'keys', name));
  await flushFolder(join(folder, 'keys'));
  await flushFolder(folder);
  return { head: head && toJson(head), files: ['ledger.mdb', ...names.map((name) => `keys/${name}`)] };
}

async function copyKey(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
