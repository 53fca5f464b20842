import { join } from 'node:path';
import { Type } from 'typebox';
import { oneOf, type Static } from '../contract/resources/common.ts';
import { count, hex32, list, optional, part, shape, text, timestamp, uuid } from '../contract/resources/fields.ts';
import { SignedTreeHead } from '../contract/resources/transparency.ts';
import { validate } from '../contract/validate.ts';
import { privateKeyStates } from '../contract/vocabulary.ts';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { ServiceError } from '../errors.ts';
import { readTextFile } from '../files/read-file.ts';
import { limits } from '../limits.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';

/** Name of the manifest, which is written last: a folder without a manifest is not a backup. */
export const manifestFile = 'manifest.json';

/**
 * Version of the layout. A newer program reads older versions; an older program rejects newer versions.
 * Format 1 has the private keys in the key files; format 2 has them in keys.age or omits them.
 */
const format = 2;

/**
 * Allowed file names, so that a manifest cannot refer to files outside its folder. siem.mdb, ledger.mdb and
 * format.json are required. Backups of earlier versions have the access policy in policy.in-effect.json.
 */
export const fileName =
  /^(siem\.mdb|ledger\.mdb|journal\.ndjson|format\.json|policy\.in-effect\.json|config\.json|keys\.age|keys\/[0-9a-f-]{36}\.json)$/;
/**
 * Name of the settings file. A backup has no such file if the data folder has no settings, or if an earlier
 * version made the backup.
 */
export const settingsFile = 'config.json';
export const requiredFiles = ['siem.mdb', 'ledger.mdb', 'format.json'] as const;

/** Reads the manifest in the folder of a backup. Throws BackupError. */
export async function readManifest(backup: string): Promise<string> {
  try {
    return await readTextFile(join(backup, manifestFile), limits.maxManifestBytes);
  } catch (error) {
    const { message } = error as Error;
    throw new BackupError(`${backup} is not a backup: ${manifestFile}: ${message}`);
  }
}

const BackupFile = part('A file of the backup.', {
  name: Type.String({ pattern: fileName.source, description: 'Path in the backup folder.' }),
  size: count('Size in bytes.'),
  sha256: hex32('SHA-256 of the content.'),
});
export type BackupFile = Static<typeof BackupFile>;

const Manifest = shape('BackupManifest', {
  format: Type.Union([Type.Literal(1), Type.Literal(format)]),
  id: uuid('Id of the backup, and of the log entry that records it.'),
  created_at: timestamp('When the backup started.'),
  finished_at: timestamp('When the backup was complete and verified.'),
  actor: text('Id of the principal who requested the backup, or system.', { minLength: 1, maxLength: 512 }),
  product_version: text('Version of the program that made the backup.'),
  private_keys: optional(oneOf(privateKeyStates, 'Absent in format 1, in which private keys are included.')),
  size: count('Total size of all files in bytes.'),
  events: part('Number of events.', { network: count('Network events.'), dns: count('DNS events.') }),
  alerts: count('Number of alerts.'),
  sth: optional(SignedTreeHead),
  files: list(BackupFile, 'All files except the manifest.', { maxItems: limits.maxBackupFiles }),
});
export type Manifest = Static<typeof Manifest>;

/** Serializes manifest.json. The integers of the tree head keep all digits. */
export function writeManifest(manifest: Omit<Manifest, 'format'>): string {
  const { sth, files, ...rest } = manifest;
  const members = [
    JSON.stringify({ format, ...rest }).slice(1, -1),
    ...(sth === undefined ? [] : [`"sth":${writeTreeHead(sth)}`]),
    `"files":[\n${files.map((file) => JSON.stringify(file)).join(',\n')}\n]`,
  ];
  return `{${members.join(',')}}\n`;
}

/** Parses manifest.json. Throws BackupError if this program cannot read it. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedBackupError(`${manifestFile} is damaged: it is not valid JSON`);
  }
  const found = (value as { format?: unknown } | null)?.format;
  if (typeof found === 'number' && found > format) {
    throw new BackupError(
      `${manifestFile} has format ${found}, but this version reads at most ${format}; use a newer version`,
    );
  }
  try {
    const manifest = validate(Manifest, value, 'manifest');
    const names = new Set(manifest.files.map(({ name }) => name));
    const missing = requiredFiles.filter((name) => !names.has(name));
    if (missing.length > 0)
      throw new DamagedBackupError(`${manifestFile} is damaged: it does not list ${missing.join(', ')}`);
    if (names.size < manifest.files.length)
      throw new DamagedBackupError(`${manifestFile} is damaged: it lists a file twice`);
    return manifest;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new DamagedBackupError(`${manifestFile} is damaged: ${error.message}`);
  }
}
