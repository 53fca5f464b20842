import { isDiskFull } from '../write-errors.ts';

/** Why a backup can't be made, is none, or can't be restored. The message is for the operator: what, and what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** The backup isn't what its manifest says, or isn't sound. */
export class DamagedBackupError extends BackupError {}

/** What went wrong in words for the operator: a volume that is full or closed is no bug. */
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
