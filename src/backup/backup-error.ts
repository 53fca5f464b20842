import { isDiskFull } from '../files/write-errors.ts';

/**
 * Signals that a backup cannot be made or restored, or that a folder is not a backup. The message is for the
 * operator: it states the cause and the remedy.
 */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Signals that a backup does not match its manifest, or that its content is damaged. */
export class DamagedBackupError extends BackupError {}

/**
 * Returns a description of a failure for the operator. A full or read-only volume is an operational problem,
 * not a bug.
 */
export function reasonOf(error: unknown, folder: string): string {
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  if (isDiskFull(error)) return `the volume of ${folder} is full`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || /permission denied|read-only/i.test(message))
    return `${folder} cannot be written to (${message})`;
  return message;
}
