import { isDiskFull } from '../write-errors.ts';

/**
 * A backup can't be made, isn't a backup, or can't be restored. The message is for the operator: the cause
 * and the remedy.
 */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** The backup does not match its manifest, or its content is damaged. */
export class DamagedBackupError extends BackupError {}

/** Describes a failure for the operator. A full or read-only volume is an operational problem, not a bug. */
export function reasonOf(error: unknown, folder: string): string {
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  if (isDiskFull(error)) return `the volume of ${folder} is full`;
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    /permission denied|read-only/i.test(message)
  )
    return `${folder} cannot be written to (${message})`;
  return message;
}
