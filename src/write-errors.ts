import type { ErrorCode } from './errors.ts';

/** What the operating system says of a file that cannot be written; anything else is a bug. */
const answers: Readonly<Record<string, ErrorCode>> = {
  EROFS: 'CONFLICT',
  EACCES: 'CONFLICT',
  EPERM: 'CONFLICT',
  // A file that is mounted by itself cannot be replaced.
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

/** Whether an error, of this thread or another one, says that a volume has no room left. */
export function isDiskFull(error: unknown): boolean {
  const { code, details, message = '' } = error as NodeJS.ErrnoException & { details?: { reason?: unknown } };
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || details?.reason === 'disk_full';
  return isFull || /no space left|quota exceeded|ENOSPC|EDQUOT/i.test(message);
}

/**
 * How a caller is told of a write that failed: CONFLICT where it fails as things are, UNAVAILABLE where the disk is full
 * or fails; undefined for a bug. `reason` is what the operating system says.
 */
export function writeRefusal(
  error: unknown,
): { readonly code: ErrorCode; readonly reason: string } | undefined {
  const { code: reason = '' } = error as NodeJS.ErrnoException;
  const code = Object.hasOwn(answers, reason) ? answers[reason] : undefined;
  return code === undefined ? undefined : { code, reason };
}
