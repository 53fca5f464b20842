import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../files/durable-file.ts';
import { parseKeyFile, publicHalf } from '../ledger/keys/key-file.ts';
import { limits } from '../limits.ts';
import { BackupError } from './backup-error.ts';
import { makeFolder, namesIn } from './files.ts';

/**
 * Name of the file with the private keys of a backup, if the backup has any. The file contains key files as
 * lines of JSON, encrypted to age recipients (https://age-encryption.org/v1). `age -d -i <identity> keys.age`
 * prints them.
 */
export const privateKeysFile = 'keys.age';

/** Checks the recipients. Throws BackupError that names the first invalid recipient. */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  if (recipients.length > 0) await encrypterTo(recipients);
}

/** Returns the encrypted key files that have a private part; undefined without recipients. */
export async function sealPrivateKeys(
  keysFolder: string,
  recipients: readonly string[],
): Promise<Uint8Array | undefined> {
  if (recipients.length === 0) return undefined;
  const lines: string[] = [];
  for (const name of await keyNames(keysFolder)) {
    const file = parseKeyFile(await readFile(join(keysFolder, name), 'utf8'));
    if (file.d !== undefined || file.svc_encrypted !== undefined) lines.push(`${JSON.stringify(file)}\n`);
  }
  return (await encrypterTo(recipients)).encrypt(lines.join(''));
}

/**
 * Decrypts the key files in a backup's keys.age.
 *
 * @returns texts of key files by kid
 * @throws BackupError when the backup has no keys.age, or no identity decrypts it
 */
export async function openPrivateKeys(backup: string, identityFile: string): Promise<ReadonlyMap<string, string>> {
  const { Decrypter } = await import('age-encryption');
  const sealed = await readFile(join(backup, privateKeysFile)).catch(() => {
    throw new BackupError(`--identity: ${backup} has no ${privateKeysFile}, so it has no private keys to decrypt`);
  });
  const decrypter = new Decrypter();
  for (const identity of await identitiesIn(identityFile)) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new BackupError(`--identity: ${identityFile} has a line that is not an age identity`);
    }
  }
  const opened = await decrypter.decrypt(sealed, 'text').catch(() => {
    throw new BackupError(`--identity: no identity in ${identityFile} decrypts ${privateKeysFile} in ${backup}`);
  });
  const lines = opened.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [parseKeyFile(line).kid, line]));
}

/** Writes decrypted key files into a separate folder that no service reads. */
export async function writePrivateKeys(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await makeFolder(folder);
  for (const [kid, text] of files) await replaceFile(join(folder, `${kid}.json`), `${text}\n`, { mode: 0o600 });
}

/**
 * Removes the private parts from the key files of a folder, because a restored log generates its own keys.
 */
export async function keepPublicHalves(keysFolder: string): Promise<void> {
  for (const name of await keyNames(keysFolder)) {
    const file = parseKeyFile(await readFile(join(keysFolder, name), 'utf8'));
    if (file.d === undefined && file.svc_encrypted === undefined) continue;
    await replaceFile(join(keysFolder, name), `${JSON.stringify(publicHalf(file))}\n`, { mode: 0o600 });
  }
}

async function encrypterTo(recipients: readonly string[]) {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (error) {
      throw new BackupError(
        `backup.recipient: ${recipient} is not an age recipient (${(error as Error).message}); make one with age-keygen`,
      );
    }
  }
  return encrypter;
}

/** Reads the identities from a file in the format of age-keygen. */
async function identitiesIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new BackupError(`--identity: cannot read ${path} (${error.message})`);
  });
  if (text.length > limits.maxIdentityFileBytes)
    throw new BackupError(`--identity: ${path} is larger than ${limits.maxIdentityFileBytes} bytes`);
  const lines = text.split('\n').map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw new BackupError(`--identity: ${path} has no age identity`);
  return identities;
}

async function keyNames(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => name.endsWith('.json')).sort();
}
