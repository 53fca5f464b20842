import type { Table } from '../../../events/records.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import type { Tables } from '../tables.ts';

/** The sequences [first, next) of the events that a batch stored; first = next if it stored no events. */
export type Sequences = readonly [first: number, next: number];

/** Sightings of a batch, and their position in the order of its events. */
export interface ToldRow extends Readonly<Record<Table, Sequences>> {
  readonly sightings: readonly Sighting[];
}

/** The same during processing. Processed sightings are removed from their list. */
export interface Told extends Readonly<Record<Table, Sequences>> {
  /** By time. */
  readonly hosts: HostAt[];
  readonly services: Sighting[];
  readonly names: Sighting[];
}

export type HostAt = Extract<Sighting, { kind: 'host' }>;

interface Waiting {
  readonly row: ToldRow;
  readonly told: Told;
  /** Key in the table; undefined while it is only in memory. */
  key: number | undefined;
}

/**
 * Sightings of hosts and services, which are not stored as events, until the inventory has processed and
 * written them: one row for each batch that is not there yet at its commit.
 */
export class ToldLater {
  /** Not processed yet, oldest first. */
  #waiting: Waiting[] = [];
  /** Processed by the inventory, which is not written yet. */
  #taken: Waiting[] = [];
  #next = 0;
  readonly #table: Tables['inventoryTold'];

  constructor(tables: Tables) {
    this.#table = tables.inventoryTold;
    this.#recall();
  }

  /** Number of pending batches. */
  get count(): number {
    return this.#waiting.length;
  }

  /** The key of the newest stored batch: keys grow. Less than any key before the first one. */
  get newest(): number {
    return this.#next - 1;
  }

  /** Whether a batch with this key or an older one is pending. */
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

  get first(): Told | undefined {
    return this.#waiting[0]?.told;
  }

  /** Whether memory has batches that are neither in this table nor in those of the inventory. */
  get isUnkept(): boolean {
    return [...this.#taken, ...this.#waiting].some(({ key }) => key === undefined);
  }

  add(row: ToldRow): void {
    this.#waiting.push({ row, told: opened(row), key: undefined });
  }

  /** Marks the first batch as processed. */
  shift(): void {
    this.#taken.push(this.#waiting.shift()!);
  }

  /** Called when the inventory is written in this transaction. */
  written(): void {
    for (const { key } of this.#taken) if (key !== undefined) this.#table.removeSync(key);
    this.#taken = [];
  }

  /** Called at the end of a transaction: stores batches that the tables of the inventory do not have. */
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
    this.#next = Math.max(this.#next, (this.#waiting.at(-1)?.key ?? -1) + 1);
  }
}

function opened({ network, dns, sightings }: ToldRow): Told {
  return {
    network,
    dns,
    hosts: sightings.filter((sighting) => sighting.kind === 'host').sort((a, b) => a.at - b.at),
    services: sightings.filter(({ kind }) => kind === 'service'),
    names: sightings.filter(({ kind }) => kind === 'name' || kind === 'system'),
  };
}
