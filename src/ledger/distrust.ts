import { asLastResort, restoreAdvice } from '../database/damage.ts';
import { ServiceError } from '../errors.ts';
import type { LedgerFault, LedgerHealth } from './ledger.ts';
import { DamagedError } from './storage/storage.ts';

/**
 * Thrown if the log on disk cannot be trusted, so appends are refused. The advice names checks and repairs first, and a
 * restore last, because a restore loses entries and starts a new life of the log.
 */
export class UntrustedLogError extends Error {
  override readonly name = 'UntrustedLogError';
  readonly fault: LedgerFault;
  /** The reason, without advice. */
  readonly what: string;
  readonly #restoreWhen: string | undefined;

  /**
   * @param restoreWhen - condition under which the advice suggests a restore; undefined if a restore does not
   * help
   */
  constructor(fault: LedgerFault, advice: string, restoreWhen?: string, what = advice) {
    super(advice);
    this.fault = fault;
    this.what = what;
    this.#restoreWhen = restoreWhen;
  }

  /** @param signedLeaves - size of the largest known signed head; a restore loses entries that are newer than the backup */
  advice(signedLeaves = 0): string {
    if (this.#restoreWhen === undefined) return this.message;
    const to = signedLeaves === 0 ? '' : `, up to entry ${signedLeaves - 1}`;
    return `${this.message} ${restoreAdvice(this.#restoreWhen, to)}`;
  }
}

export function rollback(what: string): UntrustedLogError {
  return new UntrustedLogError(
    'rollback',
    `${what} The database was rolled back or replaced. Stop the service and run \`candor fsck\`, which compares the log ` +
      'with the anchor, the journal and siem.mdb. If the newer ledger.mdb still exists, put it back. Otherwise run `candor rebuild ' +
      '--dry-run` to see what this file still holds; `candor rebuild --accept-loss` continues from it as a new life of ' +
      'the log, with new keys and a new origin.',
    asLastResort,
    what,
  );
}

export function corrupt(what: string): UntrustedLogError {
  return new UntrustedLogError(
    'corrupt',
    `The log is damaged: ${what}. Stop the service, copy the data folder and check the disk. Run \`candor fsck\` to list ` +
      'all damage, then `candor rebuild`, which recovers what the file still holds and reports any loss.',
    asLastResort,
  );
}

/** Runs a read of the database. Throws `corrupt` if the database is damaged. */
export function orCorrupt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedError) throw corrupt(error.message);
    throw error;
  }
}

/** Returns the error for a read that needs damaged data. */
export function dataDamaged(what: string): ServiceError {
  return new ServiceError('INTERNAL', `stored data of the log is damaged: ${what}; see /health`, {
    reason: 'data_damaged',
  });
}

/** Returns the message of the finding `data_damaged`. */
export function damageAdvice(what: string, isEdge: boolean): string {
  return (
    `Stored data of the log is damaged: ${what}. Requests that need it are answered with an error; ` +
    `${isEdge ? 'appends are refused' : 'appends continue'}. Copy ` +
    'the data folder away, check the disk and stop the service. `candor fsck` shows all of the damage; then `candor ' +
    `rebuild\` recovers what the file still holds. ${restoreAdvice('Only if a backup has the damaged part')}`
  );
}

export function halfWritten(what: string): UntrustedLogError {
  return new UntrustedLogError(
    'half_written',
    `A write to the log is incomplete, which a disk that honours flushes rules out: ${what}. Stop the service and check ` +
      'the disk. Run `candor fsck`, then `candor rebuild`, which goes back to the last complete signed head and reports ' +
      'any loss.',
    asLastResort,
  );
}

export function lost(found: readonly string[]): UntrustedLogError {
  return new UntrustedLogError(
    'lost',
    `The data folder has ${found.join(', ')} but no ledger.mdb: the log is lost, and no new log is started. If ledger.mdb ` +
      'was moved, stop the service, put it back and run `candor fsck`. Without a backup, `candor rebuild --begin-anew` ' +
      'moves the remains of the old log aside and starts a new log, which every auditor sees.',
    'With a backup',
  );
}

export function keysLost(what: string): UntrustedLogError {
  return new UntrustedLogError(
    'lost',
    `${what}. Stop the service, put the key files back from a copy and run \`candor fsck\`.`,
    asLastResort,
  );
}

export function keysDamaged(files: readonly string[]): UntrustedLogError {
  return new UntrustedLogError(
    'corrupt',
    `Key files are damaged: ${files.join('; ')}. Stop the service, put the key files back from a copy and ` +
      'run `candor fsck`.',
    asLastResort,
  );
}

export function anchorUnreadable(path: string, why: string, size: number): UntrustedLogError {
  return new UntrustedLogError(
    'corrupt',
    `The anchor ${path} is unreadable (${why}), which an interrupted write cannot cause. Run \`candor fsck\` and compare ` +
      `the log (${size} leaves) with the journal and with the heads that auditors hold. If they agree, stop the ` +
      'service, move the anchor aside and start again.',
  );
}

export function anchorForeign(path: string): UntrustedLogError {
  return new UntrustedLogError(
    'corrupt',
    `The head in the anchor ${path} has no valid signature: the file was altered or belongs to another log. Run \`candor ` +
      'fsck`. Move the anchor aside only if the journal and the auditors agree with this log.',
  );
}

/**
 * Returns the error for a folder that is a copy, or was moved to another volume. Two copies that sign with the same
 * keys would fork the log.
 */
export function copied(dataDir: string): UntrustedLogError {
  return new UntrustedLogError(
    'copied',
    `The data folder ${dataDir} was copied, or moved to another volume: instance.json is not the file that was written ` +
      'here. If the original is gone for good, stop the service and run `candor rebuild --moved`, which keeps the keys. ' +
      'If the original may run again, run `candor rebuild --new-life`, which gives this copy its own keys and origin.',
  );
}

export function instanceUnreadable(path: string, why: string): UntrustedLogError {
  return new UntrustedLogError(
    'copied',
    `${path} cannot be read (${why}), so a copied data folder would not be recognised. If this is the original ` +
      'folder, stop the service and run `candor rebuild --moved`; if not, `candor rebuild --new-life`.',
  );
}

/** Returns the health of an intact log whose clock is not plausible. */
export function clockRefused(what: string): LedgerHealth {
  const advice =
    `The log refuses entries, which wait in the outbox: ${what}. Correct the clock, and the log recovers within a minute. If the ` +
    'clock is right, confirm it as an administrator: POST /api/v1/clock/confirm.';
  return { state: 'degraded', fault: 'clock', advice };
}
