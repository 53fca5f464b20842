import type { LogPositions } from '../../store/log-positions.ts';
import type { LogPosition } from '../../store/store.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import type { Hash } from '../../tlog/tree.ts';
import { rollback, type UntrustedLogError } from '../distrust.ts';

/**
 * Kinds of entries that only the event database causes. Other entries are caused by the log itself, backups and
 * timestamps.
 */
const causedByStore = /^(alert|principal|token|policy|detection|verdict|events|ingest)\./;

/** The life of the log that an event database has entered: its id and the time of its entry (ISO 8601). */
export interface EnteredLife {
  readonly id: string;
  readonly at: string;
}

/** The parts of the log that the check needs. */
export interface ComparedLog {
  readonly size: number;
  /** Id of the current life; undefined in the first life. */
  readonly life: string | undefined;
  /** Whether the next entry begins a life, by an operator's command. */
  readonly isBeginning: boolean;
  hashAt(index: number): Hash;
  has(entryId: string): boolean;
  entryAt(index: number): { readonly id?: unknown; readonly kind?: unknown };
  /** Returns whether an entry of the log begins this life, or names this life as one that was replaced. */
  follows(life: string): boolean;
}

/**
 * Compares the log with the positions recorded by the event database. The positions reveal an older ledger.mdb even if
 * anchor and journal are missing.
 *
 * Positions apply only to the life in which they were recorded. A database that has not entered the current life yet
 * may have records of entries that this life abandoned. The database has these entries logged again when it enters the
 * life (lost-entries.ts). Lives are distinguished by their ids, because clocks may be wrong. A database that has
 * entered a life that this log does not have proves that this is an earlier copy of the log, or a different log.
 *
 * @throws UntrustedLogError `rollback`
 */
export function checkPositions(noted: LogPositions, log: ComparedLog): void {
  if (log.isBeginning) return;
  const entered = noted.life?.id;
  if (entered !== log.life) {
    if (entered === undefined || log.follows(entered)) return;
    throw rollback(`The event database has entered life ${entered} of the log, which this log does not have.`);
  }
  const lost = noted.positions.find((place) => !isInLog(place, log));
  if (lost !== undefined && lost.kind !== 'alert')
    throw rollback(
      `The event database has ${lost.kind} that entry ${lost.entry_id} covers, but the log lacks this entry.`,
    );
  if (lost !== undefined) throw lostLeaf('an alert', lost.place, log);
  const { leaf_index, leaf_hash } = noted.last ?? {};
  if (leaf_index !== undefined && hexAt(leaf_index, log) !== leaf_hash) throw lostLeaf('an entry', leaf_index, log);
}

/**
 * Returns the first entry that the event database caused but neither recorded as logged nor has in its outbox. Such an
 * entry means that the database is an older copy. Returns undefined if there is no such entry, or if the database has
 * not recorded an entry in the current life of the log. After a crash between a commit of the log and its record, the
 * entry is still in the outbox.
 *
 * @param accepted - entries before this index may be unknown; ignored if the log is shorter
 */
export function unknownEntry(noted: LogPositions, log: ComparedLog, accepted = 0): number | undefined {
  const { last, life, waiting } = noted;
  if (last === undefined || waiting === undefined || log.isBeginning || life?.id !== log.life) return undefined;
  const from = accepted > log.size ? 0 : accepted;
  for (let index = Math.max(last.leaf_index + 1, from); index < log.size; index++) {
    const { id, kind } = log.entryAt(index);
    if (causedByStore.test(String(kind)) && !waiting.has(String(id))) return index;
  }
  return undefined;
}

/** Returns the highest leaf recorded by the event database; 0 without one. */
export function newestPosition(noted: LogPositions | undefined): number {
  return noted?.last?.leaf_index ?? noted?.positions.find(({ kind }) => kind === 'alert')?.place ?? 0;
}

function lostLeaf(what: string, index: number, { size }: ComparedLog): UntrustedLogError {
  return rollback(
    `The event database has ${what} logged as leaf ${index}, but the log ` +
      (index < size ? 'has another entry there.' : `has ${size} leaves.`),
  );
}

function isInLog(noted: LogPosition, log: ComparedLog): boolean {
  return noted.kind === 'alert' ? hexAt(noted.place, log) === noted.leaf_hash : log.has(noted.entry_id);
}

/** Returns the hash of a leaf in hex; undefined beyond the end of the log. */
function hexAt(index: number, { size, hashAt }: ComparedLog): string | undefined {
  return index < size ? bytesToHex(hashAt(index)) : undefined;
}
