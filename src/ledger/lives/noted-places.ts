import { bytesToHex } from '../../tlog/hex.ts';
import type { Hash } from '../../tlog/tree.ts';
import { rollback } from '../distrust.ts';
import type { NotedPlace } from '../lost-entries.ts';
import type { LifeRecord } from './life-entry.ts';

/** The life of the log that a database of events has entered: its id and the time of its entry (ISO 8601). */
export interface EnteredLife {
  readonly id: string;
  readonly at: string;
}

/** What a database of events remembers of the log that its entries were settled in. */
export interface NotedPlaces {
  /** Absent in the first life. */
  readonly life?: EnteredLife;
  /** The highest leaves first. */
  readonly places: readonly NotedPlace[];
}

/** The log, as far as the check needs it. */
export interface ComparedLog {
  readonly size: number;
  hashAt(index: number): Hash;
}

/**
 * Compares the log with the places that the database of events recorded. They prove an older ledger.mdb even where anchor
 * and journal are gone.
 *
 * Places count against the log only in the life in which they were recorded: a database that has not entered the current
 * life yet may know of entries that this life gave up, and has them logged again when it enters (lost-entries.ts). A
 * database that has entered a later life proves that the keys and the log are those of an earlier one.
 *
 * @param life - the current life, as its signed entry in the log says; undefined in the first one
 * @throws Distrust `rollback`
 */
export function checkPlaces(
  noted: NotedPlaces,
  life: Pick<LifeRecord, 'id' | 'at'> | undefined,
  log: ComparedLog,
): void {
  const entered = noted.life;
  if (entered?.id !== life?.id) {
    if (entered === undefined || (life !== undefined && entered.at < life.at)) return;
    throw rollback(
      `The database of events has entered life ${entered.id} of the log, and this log has not begun it.`,
    );
  }
  const lost = noted.places.find((place) => !holds(place, log));
  if (lost !== undefined)
    throw rollback(
      `The database of events has an alert logged as leaf ${lost.leaf_index}, and the log ` +
        (lost.leaf_index < log.size ? 'has another entry there.' : `has ${log.size} leaves.`),
    );
}

/** Whether the log has the entry where it was recorded. */
export function holds({ leaf_index, leaf_hash }: NotedPlace, { size, hashAt }: ComparedLog): boolean {
  return leaf_index < size && bytesToHex(hashAt(leaf_index)) === leaf_hash;
}
