import type { EventBlock } from '../format/block.ts';
import { scopedId } from '../scoped-id.ts';
import type { IdKeys } from './id-keys.ts';

/**
 * Standing of an explicit id. `free`: the id may be used. `repeated`: the event is a duplicate. `foreign`:
 * another sensor has the id, or only the service may assign it.
 */
type Standing = 'free' | 'repeated' | 'foreign';

/** Looks up the explicit ids of a new block among the stored events. */
export interface StoredIds {
  /** Whether the index contains any id of the block. */
  readonly hasAny: boolean;
  /** @param row - the row of the block with this id; undefined for a scoped id */
  standing(id: string, sensor: string | undefined, row: number | undefined): Standing;
}

/**
 * Returns the standing of an id that an earlier event has, from the sensors of the earlier event and of the new event.
 * If either sensor is unknown, the new event is a duplicate.
 */
export const standingBeside = (owner: string | undefined, sensor: string | undefined): Standing =>
  owner === undefined || sensor === undefined || owner === sensor ? 'repeated' : 'foreign';

/** Which rows of a block are stored, and under which ids. */
export interface Unrepeated {
  /** Rows to store; absent if all rows are stored. */
  readonly kept?: Uint32Array;
  /** New ids, by row of the stored block; undefined if the service assigns the id. The other rows keep their ids. */
  readonly renamed: ReadonlyMap<number, string | undefined>;
}

/**
 * Number of collisions with ids of other sensors after which the service assigns an id. Chance alone never
 * causes this many.
 */
const maxForeignIds = 8;

/**
 * Removes rows whose explicit id their sensor already sent, in the store or in the block. An id belongs to the sensor
 * that sent it first: the event of another sensor with that id is stored under `scopedId`. Therefore, no sensor can
 * cause another sensor's events to be dropped as duplicates, and each sensor can repeat its own events.
 */
export function withoutRepeated(block: EventBlock, ids: IdKeys, stored: StoredIds): Unrepeated {
  const renamed = new Map<number, string | undefined>();
  // Most blocks have only new ids. For such a block, the strings and maps below would take 0.3 µs per id.
  if (!ids.hasEqual && !stored.hasAny && !ids.order.some((row) => ids.isServiceId(row))) return { renamed };
  const given = block.texts('id');
  const sensors = block.texts('sensor_id');
  const owners = new Map<string, string | undefined>();
  const kept: number[] = [];
  for (let row = 0; row < block.rows; row++) {
    const id = given.text(row)?.toLowerCase();
    if (id !== undefined) {
      const sensor = sensors.text(row);
      const own = ownId(id, sensor, (each) =>
        owners.has(each)
          ? standingBeside(owners.get(each), sensor)
          : stored.standing(each, sensor, each === id ? row : undefined),
      );
      if (own === 'repeated') continue;
      if (own !== id) renamed.set(kept.length, own);
      if (own !== undefined) owners.set(own, sensor);
    }
    kept.push(row);
  }
  return kept.length === block.rows ? { renamed } : { kept: Uint32Array.from(kept), renamed };
}

/**
 * Returns the id under which the event is stored, or `repeated` for a duplicate; undefined if the service assigns
 * the id.
 */
function ownId(
  given: string,
  sensor: string | undefined,
  standingOf: (id: string) => Standing,
): string | 'repeated' | undefined {
  let id = given;
  for (let foreign = 0; foreign < maxForeignIds; foreign++) {
    const standing = standingOf(id);
    if (standing === 'free') return id;
    if (standing === 'repeated') return 'repeated';
    if (sensor === undefined) return undefined;
    id = scopedId(sensor, id);
  }
  return undefined;
}
