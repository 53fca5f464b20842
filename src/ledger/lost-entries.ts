import { ServiceError } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import type { EnteredLife } from './lives/noted-places.ts';

/** Places asked for at once. */
const defaultBatch = 1000;

/** A record, stored elsewhere, of an entry that the log has. */
export type NotedPlace =
  /** An alert's entry: `place` is its leaf index, `leaf_hash` lowercase hex, 32 bytes. */
  | { readonly kind: 'alert'; readonly place: number; readonly alert_id: string; readonly leaf_hash: string }
  /** An entry that covers receipts or stored events: later ones have a higher `place`. */
  | { readonly kind: 'receipts' | 'events'; readonly place: number; readonly entry_id: string };

const placeKinds: readonly NotedPlace['kind'][] = ['alert', 'receipts', 'events'];

/** The store of the places that entries were settled at. */
export interface PlaceSource<Update> {
  /** Places of a kind, the highest `place` first, at most `limit`, and only those below a place. */
  lastPlaces(kind: NotedPlace['kind'], limit: number, below?: number): Promise<readonly NotedPlace[]>;
  /** The life of the log that the places are of; undefined in the first one. */
  logLife(): Promise<EnteredLife | undefined>;
  /** Places are those of this life from now on. */
  enterLogLife(life: EnteredLife): Promise<void>;
  /** Forgets these places and puts what must be logged of them back into the outbox, in one transaction. */
  logAgain(places: readonly NotedPlace[]): Promise<readonly Update[]>;
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
 * @returns whether the life was known. A degraded log may be one that a restore replaces, and a life without its entry is
 * not there yet: nothing is changed then.
 */
export async function logLostAgain<Update>(
  source: PlaceSource<Update>,
  ledger: Pick<Ledger, 'leaf' | 'status'>,
  onUpdates: (updates: readonly Update[]) => void,
  batch = defaultBatch,
): Promise<boolean> {
  const { health, life, life_pending } = await ledger.status();
  if (health.state !== 'ok' || life_pending) return false;
  if (life === undefined || (await source.logLife())?.id === life.id) return true;
  for (const kind of placeKinds) {
    let below: number | undefined;
    for (;;) {
      const places = await source.lastPlaces(kind, batch, below);
      const lost = await lostOf(places, ledger);
      if (lost.length > 0) onUpdates(await source.logAgain(lost));
      if (lost.length < places.length || places.length === 0) break;
      below = places.at(-1)!.place;
    }
  }
  await source.enterLogLife(life);
  return true;
}

/** The places before the first that holds. */
async function lostOf(places: readonly NotedPlace[], ledger: Pick<Ledger, 'leaf'>): Promise<NotedPlace[]> {
  const lost: NotedPlace[] = [];
  for (const place of places) {
    if (await holds(place, ledger)) break;
    lost.push(place);
  }
  return lost;
}

async function holds(noted: NotedPlace, ledger: Pick<Ledger, 'leaf'>): Promise<boolean> {
  try {
    if (noted.kind === 'alert')
      return (await ledger.leaf({ leaf_index: noted.place })).leaf_hash === noted.leaf_hash;
    await ledger.leaf({ entry_id: noted.entry_id });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}
