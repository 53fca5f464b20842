import type { Table } from '../../../events/records.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import type { Tables } from '../tables.ts';

/** The sequences [first, next) of the events that a batch stored; first = next for none. */
export type Sequences = readonly [first: number, next: number];

/** What sensors said in a batch, beside its events, and where in their order it stands. */
export interface ToldRow extends Readonly<Record<Table, Sequences>> {
  readonly sightings: readonly Sighting[];
}

/** The same while it is taken in. Who takes some of it in removes it from its list. */
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
  /** In the table; undefined while only memory has it. */
  key: number | undefined;
}

/**
 * What sensors said of hosts and services, which isn't stored as events, until it is in the inventory and that is
 * written: a row for each batch of which that is not so when it is committed.
 */
export class ToldLater {
  /** Not in the inventory yet, oldest first. */
  #waiting: Waiting[] = [];
  /** In the inventory, which isn't written yet. */
  #taken: Waiting[] = [];
  #next = 0;
  readonly #table: Tables['inventoryTold'];

  constructor(tables: Tables) {
    this.#table = tables.inventoryTold;
    this.#recall();
  }

  /** Batches that wait. */
  get count(): number {
    return this.#waiting.length;
  }

  /** The key of the newest batch that was kept: they grow. Less than any of them when there was none. */
  get newest(): number {
    return this.#next - 1;
  }

  /** Whether a batch waits that has this key or is older. */
  waitsFor(key: number): boolean {
    const first = this.#waiting[0];
    return first?.key !== undefined && first.key <= key;
  }

  /** Sightings that wait, and at least one for each batch. */
  get sightings(): number {
    return this.#waiting.reduce((sum, { told: { hosts, services, names } }) => {
      return sum + Math.max(1, hosts.length + services.length + names.length);
    }, 0);
  }

  get first(): Told | undefined {
    return this.#waiting[0]?.told;
  }

  /** Whether memory has what neither this table nor the inventory's have. */
  get isUnkept(): boolean {
    return [...this.#taken, ...this.#waiting].some(({ key }) => key === undefined);
  }

  add(row: ToldRow): void {
    this.#waiting.push({ row, told: opened(row), key: undefined });
  }

  /** The first was taken in. */
  shift(): void {
    this.#taken.push(this.#waiting.shift()!);
  }

  /** The inventory is being written, in this transaction. */
  written(): void {
    for (const { key } of this.#taken) if (key !== undefined) this.#table.removeSync(key);
    this.#taken = [];
  }

  /** At the end of a transaction: what is not in the tables of the inventory goes into this one. */
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
