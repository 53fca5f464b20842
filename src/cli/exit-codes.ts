import type { Fault } from '../client/fault.ts';

/** How every `candor` command ends. Scripts may rely on these numbers. */
export const exitCodes = {
  /** Everything asked for was done, or verified. */
  ok: 0,
  /** The command itself failed: a file can't be read or written, the service can't start, a bug. */
  failed: 1,
  /** The command line makes no sense. */
  usage: 2,
  /**
   * The service could not be reached, or can't answer now, or another process has the folder: nothing was learned,
   * and trying again can help. `fsck`: there is no log in the folder.
   */
  unavailable: 3,
  /**
   * What came can't be accepted: malformed, wrongly signed, not included; or evidence doesn't convict. Or the service
   * doesn't accept what was asked, above all without a token, or with one of another role. `fsck`: the log on disk is
   * damaged. `restore`: the backup is.
   */
  refused: 4,
  /**
   * The log contradicts what it signed before: rolled back, forked, edited. Nothing makes that good again. `fsck`, too;
   * and `verify`, where evidence convicts.
   */
  misbehaviour: 5,
  /** There is no tree head, because nothing was logged yet. */
  empty: 6,
  /** `start --strict`: the service's own log can't be trusted to go on. `rebuild`: not without the operator's word. */
  degraded: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure of the command itself, which ends it with this message. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(fault: Fault): ExitCode {
  return exitCodes[fault.kind];
}

/** What an answer of HTTP that is no success ends a command with: as `httpLog` tells them apart. */
export function exitCodeOfStatus(status: number): ExitCode {
  return status === 429 || status >= 500 ? exitCodes.unavailable : exitCodes.refused;
}

/** The table as `--help` shows it. */
export const exitCodesHelp = `
Exit codes:
  0  done, or verified
  1  the command failed
  2  wrong usage
  3  the service could not be reached or can't answer now, or another process has the folder; fsck: no log is there
  4  refused: an answer was malformed, wrongly signed, not included; or the service refused the request (token, role);
     verify: evidence does not convict; fsck: the log is damaged; restore: the backup is
  5  misbehaviour: the log was rolled back, forked or edited; verify: evidence convicts it
  6  the log is still empty (audit and mirror, which wait for its first entry: 0)
  7  start --strict: the log on disk was rolled back, is damaged or lost; rebuild: signed entries would be missing`;
