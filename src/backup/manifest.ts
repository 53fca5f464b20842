import { Type } from 'typebox';
import { oneOf, type Static } from '../contract/resources/common.ts';
import {
  count,
  hex32,
  list,
  optional,
  part,
  shape,
  text,
  timestamp,
  uuid,
} from '../contract/resources/fields.ts';
import { SignedTreeHead } from '../contract/resources/transparency.ts';
import { validate } from '../contract/validate.ts';
import { privateKeyStates } from '../contract/vocabulary.ts';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';

/** In the folder of the backup: written last, and so what makes a folder a backup. */
export const manifestFile = 'manifest.json';

/**
 * Layout of a backup. A newer program reads an older one; an older program refuses a newer one. Backups of format 1
 * have the private keys in their key files; those of format 2 have them in keys.age, or not at all.
 */
const format = 2;

/**
 * The files that a backup may have, and no others: nothing that a manifest names can lie outside of its folder.
 * siem.mdb, ledger.mdb and format.json are in every one.
 */
export const fileName =
  /^(siem\.mdb|ledger\.mdb|journal\.ndjson|format\.json|policy\.in-effect\.json|config\.json|keys\.age|keys\/[0-9a-f-]{36}\.json)$/;
/** Who may do what. Absent from backups of programs that had no such file. */
export const policyFile = 'policy.in-effect.json';
/** Settings that lie in the data folder. Absent where there are none, and from backups of earlier programs. */
export const settingsFile = 'config.json';
export const requiredFiles = ['siem.mdb', 'ledger.mdb', 'format.json'] as const;

const BackupFile = part(
  {
    name: Type.String({ pattern: fileName.source, description: 'Relative to the folder.' }),
    size: count('In bytes.'),
    sha256: hex32('Of its content.'),
  },
  'One file.',
);
export type BackupFile = Static<typeof BackupFile>;

const Manifest = shape('BackupManifest', {
  format: Type.Union([Type.Literal(1), Type.Literal(format)]),
  id: uuid('Of the backup, and of the log entry that tells of it.'),
  created_at: timestamp('When it was begun.'),
  finished_at: timestamp('When it was whole and verified.'),
  actor: text('Who wanted it: the id of a principal, or system.', { minLength: 1, maxLength: 512 }),
  product_version: text('Of the program that made it.'),
  private_keys: optional(oneOf(privateKeyStates, { description: 'Absent for included: format 1.' })),
  size: count('Bytes of all files.'),
  events: part({ network: count('Network events.'), dns: count('DNS events.') }, 'Events in it.'),
  alerts: count('Alerts in it.'),
  sth: optional(SignedTreeHead),
  files: list(BackupFile, 'All files but this one.', { maxItems: limits.maxBackupFiles }),
});
export type Manifest = Static<typeof Manifest>;

/** The text of manifest.json, the integers of the head in exact digits. */
export function writeManifest(manifest: Omit<Manifest, 'format'>): string {
  const { sth, files, ...rest } = manifest;
  const members = [
    JSON.stringify({ format, ...rest }).slice(1, -1),
    ...(sth === undefined ? [] : [`"sth":${writeTreeHead(sth)}`]),
    `"files":[\n${files.map((file) => JSON.stringify(file)).join(',\n')}\n]`,
  ];
  return `{${members.join(',')}}\n`;
}

/** @throws BackupError when it isn't one that this program can read. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedBackupError(`${manifestFile} is damaged: it is no JSON`);
  }
  const came = (value as { format?: unknown } | null)?.format;
  if (typeof came === 'number' && came > format) {
    throw new BackupError(
      `${manifestFile} says format ${came}; this program knows format ${format}: use a newer one`,
    );
  }
  try {
    const manifest = validate(Manifest, value, 'manifest');
    const names = new Set(manifest.files.map(({ name }) => name));
    const missing = requiredFiles.filter((name) => !names.has(name));
    if (missing.length > 0)
      throw new DamagedBackupError(`${manifestFile} is damaged: it names no ${missing.join(', ')}`);
    if (names.size < manifest.files.length)
      throw new DamagedBackupError(`${manifestFile} is damaged: it names a file twice`);
    return manifest;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new DamagedBackupError(`${manifestFile} is damaged: ${error.message}`);
  }
}
