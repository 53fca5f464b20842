import type { ErrorCode } from '../errors.ts';

/** API error codes by the operating system's error code for a failed write. Any other error is a bug. */
const answers: Readonly<Record<string, ErrorCode>> = {
  EROFS: 'CONFLICT',
  EACCES: 'CONFLICT',
  EPERM: 'CONFLICT',
  // A file that is a mount point cannot be replaced.
  EBUSY: 'CONFLICT',
  EXDEV: 'CONFLICT',
  EISDIR: 'CONFLICT',
  ENOENT: 'CONFLICT',
  ENOTDIR: 'CONFLICT',
  ENAMETOOLONG: 'CONFLICT',
  ELOOP: 'CONFLICT',
  ENOSPC: 'UNAVAILABLE',
  EDQUOT: 'UNAVAILABLE',
  EFBIG: 'UNAVAILABLE',
  EIO: 'UNAVAILABLE',
  EMFILE: 'UNAVAILABLE',
  ENFILE: 'UNAVAILABLE',
};

/** Returns whether an error, from this thread or another thread, means that a volume is full. */
export function isDiskFull(error: unknown): boolean {
  const { code, details, message = '' } = error as NodeJS.ErrnoException & { details?: { reason?: unknown } };
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || details?.reason === 'disk_full';
  return isFull || /no space left|quota exceeded|ENOSPC|EDQUOT/i.test(message);
}

/**
 * Returns the error for a failed write: CONFLICT if the write cannot succeed in the present state, UNAVAILABLE if the
 * disk is full or fails; undefined for a bug. `reason` is the operating system's code.
 */
export function writeRefusal(error: unknown): { readonly code: ErrorCode; readonly reason: string } | undefined {
  const { code: reason = '' } = error as NodeJS.ErrnoException;
  const code = Object.hasOwn(answers, reason) ? answers[reason] : undefined;
  return code === undefined ? undefined : { code, reason };
}
