import { ServiceError } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import type { EnteredLife } from './lives/noted-places.ts';

/** Places queried at once. */
const defaultBatch = 1000;

/** A record, stored outside the log, of an entry in the log. */
export type NotedPlace =
  /** An alert's entry: `place` is its leaf index, `leaf_hash` lowercase hex, 32 bytes. */
  | { readonly kind: 'alert'; readonly place: number; readonly alert_id: string; readonly leaf_hash: string }
  /** An entry that covers receipts or stored events. Later entries have a higher `place`. */
  | { readonly kind: 'receipts' | 'events'; readonly place: number; readonly entry_id: string };

const placeKinds: readonly NotedPlace['kind'][] = ['alert', 'receipts', 'events'];

/** Stores the places at which entries were settled. */
export interface PlaceSource<Update> {
  /** Returns places of a kind below `below`, highest `place` first, at most `limit`. */
  lastPlaces(kind: NotedPlace['kind'], limit: number, below?: number): Promise<readonly NotedPlace[]>;
  /** Returns the life of the log that the places belong to; undefined for the first life. */
  logLife(): Promise<EnteredLife | undefined>;
  /** Records that places belong to this life from now on. */
  enterLogLife(life: EnteredLife): Promise<void>;
  /** Deletes these places and puts their entries back into the outbox, in one transaction. */
  logAgain(places: readonly NotedPlace[]): Promise<readonly Update[]>;
}

/**
 * Enters the current life of the log: finds records of entries that the log no longer has, because an
 * operator accepted a loss or began a new log, and has these entries logged again. A log can only lose its
 * end, so the search goes backward from the end to the first entry that is in place; usually that is the very
 * first. Nothing is logged again within a life: there, a missing entry is a rollback, which start-up refuses
 * (lives/noted-places.ts).
 *
 * Must run before anything else is settled, because a new entry may take the index of a lost one. After a
 * crash, the next call continues with the rest.
 *
 * @returns whether the life could be entered. A degraded log may be replaced by a restore, and a life without
 * its entry has not begun; in both cases nothing is changed.
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
      const lost = await lostPlaces(places, ledger);
      if (lost.length > 0) onUpdates(await source.logAgain(lost));
      if (lost.length < places.length || places.length === 0) break;
      below = places.at(-1)!.place;
    }
  }
  await source.enterLogLife(life);
  return true;
}

/** Returns the places before the first one that is still in the log. */
async function lostPlaces(
  places: readonly NotedPlace[],
  ledger: Pick<Ledger, 'leaf'>,
): Promise<NotedPlace[]> {
  const lost: NotedPlace[] = [];
  for (const place of places) {
    if (await isInLog(place, ledger)) break;
    lost.push(place);
  }
  return lost;
}

async function isInLog(noted: NotedPlace, ledger: Pick<Ledger, 'leaf'>): Promise<boolean> {
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
