import type { Table } from '../../events/records.ts';
import type { Sighting } from '../model/sighting.ts';
import type { InventoryTables } from './tables.ts';

/**
 * The sequences [first, next) of the events that a batch stored; first = next if the batch stored no events.
 */
export type Sequences = readonly [first: number, next: number];

/** Sightings of a batch, and their position in the order of its events. */
export interface ToldRow extends Readonly<Record<Table, Sequences>> {
  readonly sightings: readonly Sighting[];
}

/** Sightings of a batch during processing. Processed sightings are removed from their list. */
export interface BatchSightings extends Readonly<Record<Table, Sequences>> {
  /** Sightings of hosts, by time. */
  readonly hosts: HostAt[];
  readonly services: Sighting[];
  readonly names: Sighting[];
}

export type HostAt = Extract<Sighting, { kind: 'host' }>;

interface Waiting {
  readonly row: ToldRow;
  readonly told: BatchSightings;
  /** Key in the table; undefined while the batch is only in memory. */
  key: number | undefined;
}

/**
 * Holds sightings of hosts and services until the inventory has processed and written them, because sightings
 * are not stored as events. A batch that is not yet in the inventory's tables at its commit is stored as a row.
 */
export class PendingSightings {
  /** Batches that are not processed yet, oldest first. */
  #waiting: Waiting[] = [];
  /** Batches that the inventory has processed but not written yet. */
  #taken: Waiting[] = [];
  #stored = 0;
  #next = 0;
  readonly #table: InventoryTables['inventoryTold'];

  constructor(tables: InventoryTables) {
    this.#table = tables.inventoryTold;
    this.#recall();
  }

  /** The key of the newest stored batch; −1 if no batch was stored yet. Keys are ascending. */
  get newest(): number {
    return this.#next - 1;
  }

  /** Returns whether a batch with this key or an older batch is pending. */
  waitsFor(key: number): boolean {
    const first = this.#waiting[0];
    return first?.key !== undefined && first.key <= key;
  }

  /** Number of pending sightings, counting at least one for each batch. */
  get sightings(): number {
    return this.#waiting.reduce((sum, { told: { hosts, services, names } }) => {
      return sum + Math.max(1, hosts.length + services.length + names.length);
    }, 0);
  }

  /** Number of all sightings in batches that are not processed yet, counting at least one for each batch. */
  get stored(): number {
    return this.#stored;
  }

  get first(): BatchSightings | undefined {
    return this.#waiting[0]?.told;
  }

  /** Whether memory has batches that are neither in this table nor in the inventory's tables. */
  get isUnkept(): boolean {
    return [...this.#taken, ...this.#waiting].some(({ key }) => key === undefined);
  }

  add(row: ToldRow): void {
    this.#stored += sizeOf(row);
    this.#waiting.push({ row, told: opened(row), key: undefined });
  }

  /** Removes and returns, by time, the sightings of hosts in batches whose network events are all before `to`. */
  hostsUpTo(to: number): HostAt[] {
    const batches = this.#waiting.filter(({ told: { network, hosts } }) => network[1] <= to && hosts.length > 0);
    return batches.flatMap(({ told: { hosts } }) => hosts.splice(0)).sort((a, b) => a.at - b.at);
  }

  /** Marks the oldest batch as processed. */
  shift(): void {
    const batch = this.#waiting.shift()!;
    this.#stored -= sizeOf(batch.row);
    this.#taken.push(batch);
  }

  /** Drops processed batches. Called when the inventory is written in this transaction. */
  written(): void {
    for (const { key } of this.#taken) if (key !== undefined) this.#table.removeSync(key);
    this.#taken = [];
  }

  /** Stores batches that are not yet in the inventory tables. Called at the end of a transaction. */
  keep(): void {
    for (const waiting of [...this.#taken, ...this.#waiting])
      if (waiting.key === undefined) {
        waiting.key = this.#next++;
        this.#table.putSync(waiting.key, waiting.row);
      }
  }

  forget(): void {
    this.#recall();
  }

  #recall(): void {
    this.#taken = [];
    this.#waiting = Array.from(this.#table.getRange(), ({ key, value: row }) => {
      return { row, told: opened(row), key };
    });
    this.#stored = this.#waiting.reduce((sum, { row }) => sum + sizeOf(row), 0);
    this.#next = Math.max(this.#next, (this.#waiting.at(-1)?.key ?? -1) + 1);
  }
}

const sizeOf = ({ sightings }: ToldRow): number => Math.max(1, sightings.length);

function opened({ network, dns, sightings }: ToldRow): BatchSightings {
  return {
    network,
    dns,
    hosts: sightings.filter((sighting) => sighting.kind === 'host').sort((a, b) => a.at - b.at),
    services: sightings.filter(({ kind }) => kind === 'service'),
    names: sightings.filter(({ kind }) => kind !== 'host' && kind !== 'service'),
  };
}
