import { ServiceError } from '../errors.ts';
import type { LedgerFault, LedgerHealth } from './ledger.ts';

/** Why the log can't be trusted to go on from what is on disk, and what the operator is to do. */
export class Distrust extends Error {
  override readonly name = 'Distrust';
  readonly fault: LedgerFault;
  readonly advice: string;

  constructor(fault: LedgerFault, advice: string) {
    super(advice);
    this.fault = fault;
    this.advice = advice;
  }
}

export function rollback(what: string): Distrust {
  return new Distrust(
    'rollback',
    `${what} The database was rolled back or replaced. Stop the service and run \`candor restore --replace <backup>\` with the ` +
      'newest backup. If there is none as new, or an old ledger.mdb was put there on purpose, `candor rebuild ' +
      '--accept-loss` goes on from what is here: journal, banner and auditors will show what is missing.',
  );
}

export function corrupt(what: string): Distrust {
  return new Distrust(
    'corrupt',
    `The log is damaged: ${what}. Stop the service, copy the data folder away and check the disk. \`candor fsck\` shows ` +
      'all of the damage; then `candor restore --replace <backup>` from a backup at least as new as the anchor, or `candor rebuild` ' +
      'to save what the file still holds.',
  );
}

/** The answer to a read that needs damaged data. */
export function dataDamaged(what: string): ServiceError {
  return new ServiceError('INTERNAL', `stored data of the log is damaged: ${what}; see /health`, {
    reason: 'data_damaged',
  });
}

/** The message of the finding `data_damaged`. */
export function damageAdvice(what: string, isEdge: boolean): string {
  return (
    `Stored data of the log is damaged: ${what}. Requests that need it are answered with an error; ` +
    `${isEdge ? 'appends are refused' : 'appends go on'}. Copy ` +
    'the data folder away, check the disk and stop the service. `candor fsck` shows all of the damage; then `candor ' +
    'rebuild` saves what the file still holds. A restore brings back the damaged part only from a backup that has it.'
  );
}

export function halfWritten(what: string): Distrust {
  return new Distrust(
    'half_written',
    `A write to the log was cut short, which a disk that keeps its promises does not do: ${what}. Stop the service and ` +
      'run `candor rebuild`, which goes back to the last signed head that is whole and says what it costs; or `candor ' +
      'restore --replace <backup>`.',
  );
}

export function lost(found: readonly string[]): Distrust {
  return new Distrust(
    'lost',
    `The data folder has ${found.join(', ')} but no ledger: the log is lost. No new one is begun here. Stop the service ` +
      'and run `candor restore --replace <backup>`. Where there is no backup, `candor rebuild --begin-anew` keeps what is left of ' +
      'the old log aside and begins a new one, which every auditor will notice.',
  );
}

export function keysLost(what: string): Distrust {
  return new Distrust(
    'lost',
    `${what}. Stop the service and put the key files back from a backup (\`candor restore --replace <backup>\` does so).`,
  );
}

export function keysDamaged(files: readonly string[]): Distrust {
  return new Distrust(
    'corrupt',
    `Key files are damaged: ${files.join('; ')}. Stop the service and put them back from a backup (\`candor restore ` +
      '--replace <backup>` does so).',
  );
}

export function anchorUnreadable(path: string, why: string, size: number): Distrust {
  return new Distrust(
    'corrupt',
    `The anchor ${path} is not readable (${why}), which an interrupted write cannot cause. Compare the log (${size} ` +
      'leaves) with the journal and with what auditors have seen, and run `candor fsck`; if they agree, stop the service, ' +
      'move the anchor aside and start again.',
  );
}

export function anchorForeign(path: string): Distrust {
  return new Distrust(
    'corrupt',
    `The head in the anchor ${path} has no valid signature: the file was altered or belongs to another log. Find out ` +
      'which with `candor fsck`; move it aside only if the journal and the auditors agree with this log.',
  );
}

/** A line of the journal claims more than the log has, and no signature says that it is true. */
export function journalAltered(claimed: number, size: number): Distrust {
  return new Distrust(
    'corrupt',
    `The journal has a head of ${claimed} leaves that no key of this log signed, and the log has ${size}. Either the ` +
      'journal was altered, or the log was rolled back and its traces with it. Ask the auditors for the largest head that ' +
      'they saw: if the log is as large, move journal.ndjson aside and start again; if not, `candor restore --replace <backup>`.',
  );
}

/** The log is whole, and its clock is not plausible. */
export function clockRefused(what: string): LedgerHealth {
  const advice =
    `The log refuses entries, which wait: ${what}. Correct the clock, and the log recovers within a minute. If the ` +
    'clock is right, confirm it: POST /api/v1/clock/confirm, as an administrator.';
  return { state: 'degraded', fault: 'clock', advice };
}
