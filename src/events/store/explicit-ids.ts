import type { EventBlock } from '../format/block.ts';
import { scopedId } from '../scoped-id.ts';

/**
 * Standing of an explicit id. `free`: the id may be used. `repeated`: the event is a duplicate. `foreign`:
 * another sensor has the id, or only the service may assign it.
 */
type Standing = 'free' | 'repeated' | 'foreign';
export type StandingOf = (id: string, sensor: string | undefined) => Standing;

/**
 * Returns the standing of an id that a stored event already has, by the sensor of that event and the sensor of the
 * new event. If either sensor is unknown, the new event is a duplicate.
 */
export const standingBeside = (owner: string | undefined, sensor: string | undefined): Standing =>
  owner === undefined || sensor === undefined || owner === sensor ? 'repeated' : 'foreign';

/** The rows of a block to store. */
export interface Unrepeated {
  /** Rows to store; absent if all rows are stored. */
  readonly kept?: Uint32Array;
  /** The explicit ids, by row of the stored block. */
  readonly ids: ReadonlyMap<number, string>;
  /** True if some ids differ from the ids in the block. */
  readonly isRenamed: boolean;
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
export function withoutRepeated(block: EventBlock, stored: StandingOf): Unrepeated {
  const given = block.texts('id');
  const ids = new Map<number, string>();
  if (given.list.length === 0) return { ids, isRenamed: false };
  const sensors = block.texts('sensor_id');
  const owners = new Map<string, string | undefined>();
  const standingOf: StandingOf = (id, sensor) =>
    owners.has(id) ? standingBeside(owners.get(id), sensor) : stored(id, sensor);
  const kept: number[] = [];
  let isRenamed = false;
  for (let row = 0; row < block.rows; row++) {
    const id = given.text(row)?.toLowerCase();
    if (id !== undefined) {
      const sensor = sensors.text(row);
      const own = ownId(id, sensor, standingOf);
      if (own === 'repeated') continue;
      if (own !== id) isRenamed = true;
      if (own !== undefined) {
        ids.set(kept.length, own);
        owners.set(own, sensor);
      }
    }
    kept.push(row);
  }
  return kept.length === block.rows ? { ids, isRenamed } : { kept: Uint32Array.from(kept), ids, isRenamed };
}

/** Returns the id under which the event is stored; undefined if the service assigns the id. */
function ownId(given: string, sensor: string | undefined, standingOf: StandingOf): string | 'repeated' | undefined {
  let id = given;
  for (let foreign = 0; foreign < maxForeignIds; foreign++) {
    const standing = standingOf(id, sensor);
    if (standing === 'free') return id;
    if (standing === 'repeated') return 'repeated';
    if (sensor === undefined) return undefined;
    id = scopedId(sensor, id);
  }
  return undefined;
}
