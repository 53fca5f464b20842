import { writeSync } from 'node:fs';

/**
 * Returns whether LMDB could not write or flush a file; `code` is the operating system's error number. The
 * process must then end without another call of LMDB: the state on disk is unknown, and LMDB formats its
 * message with up to 115 bytes in a buffer of 100 (mdb_page_flush in lmdb 3.5.6), so the heap may be damaged.
 */
export function isFailedWrite(error: unknown): error is Error & { readonly code: number } {
  const code = error instanceof Error && (error as { code?: unknown }).code;
  return typeof code === 'number' && code > 0;
}

export const failedWriteNotice =
  'the database could not be written to disk: the process ends, and its next start continues with the data on disk';

/**
 * Writes a notice to standard error when a failed write ends this thread, because damage of the heap can end
 * the process before another thread has logged the error.
 */
export function announceFailedWrites(): void {
  process.on('uncaughtExceptionMonitor', (error) => {
    if (isFailedWrite(error)) writeSync(2, `\ncandor: ${error.message}\ncandor: ${failedWriteNotice}\n`);
  });
}
