import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder } from '../../files/durable-file.ts';
import { toJson } from '../heads.ts';
import { parseKeyFile, publicHalf } from '../keys/key-file.ts';
import type { LedgerCopy } from '../ledger.ts';
import type { LedgerStorage } from './storage.ts';

/**
 * Copies the log and the public keys of its key files into an existing folder, and flushes the copy. No key may change
 * during the copy, so that the copied keys are those that signed the copied log.
 */
export async function copyLedger(storage: LedgerStorage, keysFolder: string, folder: string): Promise<LedgerCopy> {
  const head = await storage.copyTo(join(folder, 'ledger.mdb'));
  const names = (await readdir(keysFolder)).filter((name) => name.endsWith('.json'));
  await mkdir(join(folder, 'keys'), { mode: 0o700 });
  for (const name of names) await copyKey(join(keysFolder, name), join(folder, 'keys', name));
  await flushFolder(join(folder, 'keys'));
  await flushFolder(folder);
  return { head: head && toJson(head), files: ['ledger.mdb', ...names.map((name) => `keys/${name}`)] };
}

async function copyKey(from: string, to: string): Promise<void> {
  const file = parseKeyFile(await readFile(from, 'utf8'));
  await writeFile(to, `${JSON.stringify(publicHalf(file))}\n`, { mode: 0o600, flag: 'wx', flush: true });
}
