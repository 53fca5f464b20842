import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decryptPrivate, encryptPrivate } from '../../src/ledger/keys/key-encryption.ts';

/**
 * Encrypts all private keys of a closed log again, with few rounds of key derivation. Each start otherwise takes 0.1 s
 * of processor time per key. Keys that the log creates later have the usual rounds.
 */
export async function useFewerRounds(dataDir: string, passphrase: string): Promise<void> {
  const keys = join(dataDir, 'keys');
  for (const name of readdirSync(keys)) {
    const path = join(keys, name);
    const file = JSON.parse(readFileSync(path, 'utf8'));
    const d = await decryptPrivate(file, file.svc_encrypted, passphrase);
    writeFileSync(path, JSON.stringify({ ...file, svc_encrypted: await encryptPrivate(file, d, passphrase, 1000) }));
  }
}
