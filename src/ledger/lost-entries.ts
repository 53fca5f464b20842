import { ServiceError } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import type { EnteredLife } from './lives/noted-places.ts';

/** Places asked for at once. */
const defaultBatch = 1000;

/** Where something that is stored elsewhere says that its entry stands. `subject` names it there. */
export interface NotedPlace {
  readonly subject: string;
  readonly leaf_index: number;
  /** Lowercase hex, 32 bytes. */
  readonly leaf_hash: string;
}

/** What keeps the places that entries were settled at. */
export interface PlaceSource<Update> {
  /** The highest leaves first, at most `limit`. */
  lastPlaces(limit: number): Promise<readonly NotedPlace[]>;
  /** The life of the log that the places are of; undefined in the first one. */
  logLife(): Promise<EnteredLife | undefined>;
  /** Places are those of this life from now on. */
  enterLogLife(life: EnteredLife): Promise<void>;
  /** Forgets the places of these subjects and puts what must be logged of them back into the outbox, in one transaction. */
  logAgain(subjects: readonly string[]): Promise<readonly Update[]>;
}

/**
 * Enters the life that the log is in: finds what says that it is in the log and isn't any more, and has it logged again,
 * because an operator accepted a loss, or began a new log. A log loses nothing but its end, so the search goes from there
 * to the first entry that is where it should be; usually that is the very first. Within a life nothing is logged again:
 * there, an entry that is missing is a rollback, which start-up refuses (lives/noted-places.ts).
 *
 * Before anything else is settled: a new entry may stand where a lost one stood. A crash in between: the next call
 * goes on with what is left.
 *
 * @returns whether it could be told. A degraded log may be one that a restore replaces: nothing is changed then.
 */
export async function logLostAgain<Update>(
  source: PlaceSource<Update>,
  ledger: Pick<Ledger, 'leaf' | 'status'>,
  onUpdates: (updates: readonly Update[]) => void,
  batch = defaultBatch,
): Promise<boolean> {
  const { health, life } = await ledger.status();
  if (health.state !== 'ok') return false;
  if (life === undefined || (await source.logLife())?.id === life.id) return true;
  for (;;) {
    const places = await source.lastPlaces(batch);
    const lost = await lostOf(places, ledger);
    if (lost.length > 0) onUpdates(await source.logAgain(lost));
    if (lost.length < places.length || places.length === 0) break;
  }
  await source.enterLogLife(life);
  return true;
}

/** Subjects of the places before the first that holds. */
async function lostOf(places: readonly NotedPlace[], ledger: Pick<Ledger, 'leaf'>): Promise<string[]> {
  const lost: string[] = [];
  for (const place of places) {
    if (await holds(place, ledger)) break;
    lost.push(place.subject);
  }
  return lost;
}

async function holds({ leaf_index, leaf_hash }: NotedPlace, ledger: Pick<Ledger, 'leaf'>): Promise<boolean> {
  try {
    return (await ledger.leaf({ leaf_index })).leaf_hash === leaf_hash;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}
