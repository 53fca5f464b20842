import { ServiceError } from '../errors.ts';
import type { LogPosition } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import type { EnteredLife } from './lives/log-positions.ts';

/** Number of positions queried in one call. */
const defaultBatch = 1000;

const positionKinds: readonly LogPosition['kind'][] = ['alert', 'receipts', 'events'];

/** Stores the positions at which entries were settled. */
export interface PositionSource {
  /** Returns positions of a kind below `below`, highest `place` first, at most `limit`. */
  lastPositions(kind: LogPosition['kind'], limit: number, below?: number): Promise<readonly LogPosition[]>;
  /** Returns the life of the log that the positions belong to; undefined for the first life. */
  logLife(): Promise<EnteredLife | undefined>;
  /** Records that positions belong to this life from now on. */
  enterLogLife(life: EnteredLife): Promise<void>;
  /** Deletes these positions and puts their entries back into the outbox, in one transaction. */
  logAgain(positions: readonly LogPosition[]): Promise<void>;
}

/**
 * Enters the current life of the log. The log may have lost entries, because an operator accepted a loss or began a new
 * log. Finds the records of these entries and has the entries logged again. A log can only lose its end, so the search
 * goes backward from the last entry to the first entry that is still in the log. Usually, this is already the last
 * entry. Entries of the current life are never logged again: if such an entry is missing, the log was rolled back, and
 * start-up refuses the log (lives/log-positions.ts).
 *
 * Must run before new entries are settled, because a new entry may take the index of a lost entry. After a crash, the
 * next call continues with the remaining entries.
 *
 * @returns whether the life could be entered. A degraded log may be replaced by a restore, and a life without its entry
 * has not begun; in both cases nothing is changed.
 */
export async function logLostAgain(
  source: PositionSource,
  ledger: Pick<Ledger, 'leaf' | 'status'>,
  batch = defaultBatch,
): Promise<boolean> {
  const { health, life, life_pending } = await ledger.status();
  if (health.state !== 'ok' || life_pending) return false;
  if (life === undefined || (await source.logLife())?.id === life.id) return true;
  for (const kind of positionKinds) {
    let below: number | undefined;
    for (;;) {
      const positions = await source.lastPositions(kind, batch, below);
      const lost = await lostPositions(positions, ledger);
      if (lost.length > 0) await source.logAgain(lost);
      if (lost.length < positions.length || positions.length === 0) break;
      below = positions.at(-1)!.place;
    }
  }
  await source.enterLogLife(life);
  return true;
}

/**
 * Returns the leading positions whose entries the log no longer has, up to the first position that is still in the log.
 */
async function lostPositions(positions: readonly LogPosition[], ledger: Pick<Ledger, 'leaf'>): Promise<LogPosition[]> {
  const lost: LogPosition[] = [];
  for (const position of positions) {
    if (await isInLog(position, ledger)) break;
    lost.push(position);
  }
  return lost;
}

async function isInLog(noted: LogPosition, ledger: Pick<Ledger, 'leaf'>): Promise<boolean> {
  try {
    if (noted.kind === 'alert') return (await ledger.leaf({ leaf_index: noted.place })).leaf_hash === noted.leaf_hash;
    await ledger.leaf({ entry_id: noted.entry_id });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}
