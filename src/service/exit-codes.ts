import type { AuditFault } from '../client/fault.ts';

/** Exit codes of every `candor` command. Scripts may rely on these numbers. */
export const exitCodes = {
  /** The command did, or verified, everything that was requested. */
  ok: 0,
  /**
   * The command itself failed: a file cannot be read or written, the service cannot start, or there is a bug.
   */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /**
   * The service could not be reached or cannot respond now, or another process holds the folder: the result
   * is unknown, and a retry may succeed. For `fsck`: there is no log in the folder.
   */
  unavailable: 3,
  /**
   * The input cannot be accepted, because it is malformed, wrongly signed or not included, or because the
   * evidence does not convict the log. Or the service rejected the request, usually because the token is
   * missing or lacks the role. For `fsck`: the log on disk is damaged. For `restore`: the backup is damaged.
   */
  refused: 4,
  /**
   * The log contradicts its earlier signatures: it was rolled back, forked or edited, which is irrecoverable.
   * Also used by `fsck`, and by `verify` if the evidence convicts the log.
   */
  misbehaviour: 5,
  /** There is no tree head, because no entry has been logged. */
  empty: 6,
  /**
   * For `start --strict`: the service's own log is degraded. For `rebuild`: signed entries would be missing
   * from the result, so the operator must consent.
   */
  degraded: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure of the command itself, with the message to print. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(fault: AuditFault): ExitCode {
  return exitCodes[fault.kind];
}

/** Returns the exit code for an unsuccessful HTTP status, consistent with how `httpLog` classifies it. */
export function exitCodeOfStatus(status: number): ExitCode {
  return status === 429 || status >= 500 ? exitCodes.unavailable : exitCodes.refused;
}

/** The table that `--help` prints. */
export const exitCodesHelp = `
Exit codes:
  0  success: done, or verified
  1  the command failed
  2  invalid usage
  3  the service could not be reached or can't answer now, or another process holds the folder; fsck: no log found
  4  rejected: an answer was malformed, wrongly signed or not included; or the service rejected the request (token,
     role); verify: evidence does not convict; fsck: the log is damaged; restore: the backup is damaged
  5  misbehaviour: the log was rolled back, forked or edited; verify: evidence convicts it
  6  the log is still empty (audit and mirror return 0 instead, as they wait for the first entry)
  7  start --strict: the log on disk was rolled back, is damaged or lost; rebuild: signed entries would be missing`;
