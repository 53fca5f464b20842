import type { AlertTables } from '../../alerts/store/tables.ts';
import { lastSequence } from '../../database/rows.ts';
import { tables as eventTables } from '../../events/format/columns.ts';
import type { EventStore } from '../../events/store/event-store.ts';
import { ConnectionMemory } from '../../inventory/model/connection-memory.ts';
import { Observations } from '../../inventory/model/observations.ts';
import { type AssetRow, at as inAsset } from '../../inventory/store/asset-row.ts';
import type { TransactionalState } from '../../inventory/store/parts.ts';
import { at as inService } from '../../inventory/store/service-row.ts';
import { projectedRows, skippedIn } from '../../inventory/store/skipped-events.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import { type LimitName, limits } from '../../limits.ts';
import type { Delta } from '../../projections/delta.ts';
import { processedTo } from '../../projections/processed-to.ts';
import { type Cell, EventFold } from '../model/event-fold.ts';
import { KeyedHash } from '../model/keyed-hash.ts';
import { type Level, levels, startOf } from '../model/levels.ts';
import { type Counter, Rollup } from '../model/rollup.ts';
import { decodeRollup, encodeRollup } from '../model/rollup-bytes.ts';
import { AlertCounts } from './alert-counts.ts';
import { decodeCells, encodeCells } from './deltas.ts';
import { encodeCounts, fineness, floorOf, keyOf, type RollupState, removeOld } from './rollup-tables.ts';
import type { RollupTables } from './tables.ts';

export interface RollupsOptions {
  readonly tables: RollupTables &
    Pick<InventoryTables, 'assets' | 'services' | 'inventoryState' | 'skippedEvents'> &
    Pick<AlertTables, 'alerts'>;
  /**
   * Returns the time in epoch milliseconds. The time MUST NOT jump ahead, because buckets that are expired by
   * this time are removed.
   */
  readonly now: () => number;
  /** Returns 64 secret random bits. */
  readonly newKey: () => readonly [number, number];
  /** Runs `write` in one transaction, which is flushed. */
  readonly transaction: (write: () => void) => void;
}

/** Number of list entries that count as one row of the inventory when deciding whether to write. */
const entriesPerRow = 16;
/** Minimum number of events processed per transaction while rollups are built from stored events. */
const buildRows = 65_536;
/** Maximum number of old buckets of a level that are removed at a time. */
const removedAtOnce = 256;

/**
 * Counts for the dashboard and trends, in the store thread. The projector sums the events. `write` stores the sums, and
 * the counts of new assets and services, as deltas. If there are too many deltas, `write` adds them to the buckets.
 */
export class Rollups implements TransactionalState {
  readonly #tables: RollupsOptions['tables'];
  readonly #now: () => number;
  readonly #transaction: (write: () => void) => void;
  /** Counts that are not written yet: of assets and services, and of events while rollups are built. */
  readonly #fold: EventFold;
  /** Sums from the projector that are not written yet. */
  #taken: NonNullable<Delta['sums']>[] = [];
  /** Number and bytes of the deltas in the table; undefined until the deltas are counted. */
  #waiting: { rows: number; bytes: number } | undefined;
  /** The stored state. */
  #state: RollupState;
  #overflows = 0;

  constructor({ tables, now, newKey, transaction }: RollupsOptions) {
    this.#tables = tables;
    this.#now = now;
    this.#transaction = transaction;
    const known = tables.rollupState.get('rollups');
    this.#state = known ?? { key: newKey(), built: false, received: 0 };
    if (known === undefined) transaction(() => tables.rollupState.putSync('rollups', this.#state));
    this.#fold = new EventFold(new KeyedHash(this.#state.key), now);
  }

  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return this.#overflows === 0 ? {} : { maxLinkBytesPerMs: this.#overflows };
  }

  get dirty(): number {
    return (this.#fold.isEmpty ? 0 : 1 + Math.floor(this.#fold.size / entriesPerRow)) + this.#taken.length;
  }

  take({ sums }: Pick<Delta, 'sums'>): void {
    if (sums !== undefined) this.#taken.push(sums);
  }

  /** Updates the count of new assets. Called when an asset is written. */
  assetWritten(before: AssetRow | undefined, after: AssetRow | undefined): void {
    this.#moved('new_assets', before?.[inAsset.firstSeen], after?.[inAsset.firstSeen]);
  }

  /**
   * Updates the count of new services. Called when the time at which a service was first seen changes (epoch
   * milliseconds). `before` is undefined for a new service, `after` for a removed service.
   */
  serviceFirstSeen(before: number | undefined, after: number | undefined): void {
    this.#moved('new_services', before, after);
  }

  write(): void {
    const own = { cells: encodeCells(this.#fold.cells), received: this.#fold.received, overflows: 0 };
    for (const { rollup } of this.#fold.cells) own.overflows += rollup.overflows;
    const deltas = this.#fold.isEmpty ? this.#taken : [...this.#taken, own];
    this.#taken = [];
    this.#fold.clear();
    if (deltas.length === 0) return;
    this.#waiting ??= this.#countWaiting();
    let key = lastSequence(this.#tables.rollupDeltas);
    for (const { cells, received, overflows } of deltas) {
      this.#tables.rollupDeltas.putSync(++key, Buffer.from(cells.buffer, cells.byteOffset, cells.length));
      this.#waiting.rows++;
      this.#waiting.bytes += cells.length;
      this.#overflows += overflows;
      const known = this.#state.received;
      const isAhead = known > this.#now() + limits.maxClockJumpMs;
      // Counts of assets and services alone have no time of receipt.
      if (received > known || (isAhead && received > 0)) this.#putState({ ...this.#state, received });
    }
    const { rows, bytes } = this.#waiting;
    if (rows > limits.maxRollupDeltas || bytes > limits.maxRollupDeltaBytes) this.#addToBuckets();
  }

  /**
   * Drops in-memory state, which may include changes that were never committed. Called after an aborted
   * transaction.
   */
  forget(): void {
    this.#taken = [];
    this.#fold.clear();
    this.#waiting = undefined;
    this.#state = this.#tables.rollupState.get('rollups') ?? this.#state;
  }

  /**
   * Builds the rollups from the stored events, if the file has no rollups. If only the alerts are counted by a time
   * other than `last_seen`, recounts only the alerts. Runs once, and begins again at the next start after an
   * interruption. Takes 3 µs per event.
   */
  complete(events: EventStore): void {
    if (this.#state.built) {
      if (this.#state.alerts_by === 'last_seen') return;
      return this.#transaction(() => {
        new AlertCounts(this.#tables, this.#now).countAll();
        this.#putState({ ...this.#state, alerts_by: 'last_seen' });
      });
    }
    this.#transaction(() => {
      for (const table of ['rollupCounts', 'rollupSketches', 'rollupDeltas'] as const) this.#tables[table].clearSync();
      this.#waiting = undefined;
      new AlertCounts(this.#tables, this.#now).countAll();
      for (const { value } of this.#tables.assets.getRange()) this.assetWritten(undefined, value);
      for (const { value } of this.#tables.services.getRange())
        this.serviceFirstSeen(undefined, value[inService.firstSeen]);
      this.write();
    });
    const memory = new ConnectionMemory();
    for (const table of eventTables) {
      const end = processedTo(this.#tables, events, table);
      for (let next = 1; next < end; )
        this.#transaction(() => {
          next = this.#count(events, memory, table, next, end);
          this.write();
        });
    }
    this.#transaction(() => this.#putState({ ...this.#state, built: true, alerts_by: 'last_seen' }));
  }

  /** Adds some of the events in [from, to) to the rollups, and returns the sequence at which to continue. */
  #count(
    events: EventStore,
    memory: ConnectionMemory,
    table: (typeof eventTables)[number],
    from: number,
    to: number,
  ): number {
    const observations = new Observations();
    let rows = 0;
    const skipped = skippedIn(this.#tables.skippedEvents, table);
    for (const { block, first, end } of projectedRows(events, skipped, table, from, to)) {
      if (table === 'network') observations.add(block, memory, [this.#fold], first, end);
      else this.#fold.dns(block, first, end);
      observations.clear();
      rows += end - first;
      if (rows >= buildRows) return block.firstSeq + end;
    }
    return to;
  }

  #moved(counter: Counter, before: number | undefined, after: number | undefined): void {
    if (before === after) return;
    if (before !== undefined) this.#fold.count(counter, before, -1);
    if (after !== undefined) this.#fold.count(counter, after, 1);
  }

  #countWaiting(): { rows: number; bytes: number } {
    let rows = 0;
    let bytes = 0;
    for (const { value } of this.#tables.rollupDeltas.getRange()) {
      rows++;
      bytes += value.length;
    }
    return { rows, bytes };
  }

  /** Adds all stored deltas to the buckets of their levels. */
  #addToBuckets(): void {
    const { rollupDeltas } = this.#tables;
    const cells = new Map<string, Cell>();
    const add = (cell: Cell) => {
      const key = `${cell.level} ${cell.start}`;
      const known = cells.get(key);
      if (known === undefined) cells.set(key, cell);
      else known.rollup.merge(cell.rollup);
    };
    for (const { key, value } of [...rollupDeltas.getRange()]) {
      for (const cell of decodeCells(value)) add(cell);
      rollupDeltas.removeSync(key);
    }
    this.#waiting = { rows: 0, bytes: 0 };
    const now = this.#now();
    for (const level of levels) {
      for (const [start, parts] of byBucket(cells.values(), level))
        if (start >= floorOf(level, now)) this.#addToBucket(level, start, parts);
      removeOld(this.#tables.rollupCounts, level, now, removedAtOnce);
      removeOld(this.#tables.rollupSketches, level, now, removedAtOnce);
    }
  }

  #addToBucket(level: Level, start: number, cells: readonly Cell[]): void {
    const { rollupCounts, rollupSketches } = this.#tables;
    const key = keyOf(level, start);
    const stored = rollupSketches.get(key);
    const rollup = stored === undefined ? new Rollup(fineness[level]) : decodeRollup(stored, fineness[level]);
    for (const cell of cells) rollup.merge(cell.rollup);
    if (level === 'hour') this.#overflows += rollup.overflows;
    rollupSketches.putSync(key, encodeRollup(rollup));
    rollupCounts.putSync(key, encodeCounts(rollup));
  }

  #putState(state: RollupState): void {
    this.#state = state;
    this.#tables.rollupState.putSync('rollups', state);
  }
}

/** Groups cells by the start of their bucket in a level. Minute buckets do not include the cells of whole hours. */
function byBucket(cells: Iterable<Cell>, level: Level): Map<number, Cell[]> {
  const buckets = new Map<number, Cell[]>();
  for (const cell of cells) {
    if (level === 'minute' && cell.level === 'hour') continue;
    const start = startOf(level, cell.start);
    const known = buckets.get(start);
    if (known === undefined) buckets.set(start, [cell]);
    else known.push(cell);
  }
  return buckets;
}
