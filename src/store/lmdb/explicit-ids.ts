import type { EventBlock } from '../../events/block.ts';
import { scopedId } from '../../events/scoped-id.ts';

/** Whether an event of a sensor may have an id. `foreign`: another sensor has it, or only the service gives such ids. */
type Standing = 'free' | 'repeated' | 'foreign';
export type StandingOf = (id: string, sensor: string | undefined) => Standing;

/** The standing of an id that an event of the same table has. If either sensor is unknown, it is a repetition. */
export const standingBeside = (owner: string | undefined, sensor: string | undefined): Standing =>
  owner === undefined || sensor === undefined || owner === sensor ? 'repeated' : 'foreign';

/** The rows of a block that are to be stored. */
export interface Unrepeated {
  /** Absent when all are. */
  readonly kept?: Uint32Array;
  /** The explicit ids of those that have one, by their row once stored. */
  readonly ids: ReadonlyMap<number, string>;
  /** Whether some of the ids are not those that the block has. */
  readonly isRenamed: boolean;
}

/** Ids of other sensors in the way of one, beyond which the event gets an id of the service: chance never gets there. */
const maxForeignIds = 8;

/**
 * Leaves out the rows whose explicit id their sensor sent before, in the store or in the block. An id belongs to the
 * sensor that sent it first: the event of another sensor with the same id is stored under `scopedId`. So no sensor can
 * make the events of another vanish as repetitions, and each can send its own again.
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

/** The id under which the event is stored; undefined where the service assigns one. */
function ownId(
  given: string,
  sensor: string | undefined,
  standingOf: StandingOf,
): string | 'repeated' | undefined {
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
