import { setTimeout as pause } from 'node:timers/promises';
import type { StoreDamage } from '../database/damage.ts';
import { diskIsFull, type GroupCommit, type Plan, smallChangeBytes, type Turn } from '../database/group-commit.ts';
import { omitUndefined } from '../database/omit-undefined.ts';
import { isDamage } from '../database/rows.ts';
import type { Correlations } from '../detect/store/correlations.ts';
import { ServiceError } from '../errors.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import type { EventStore } from '../events/store/event-store.ts';
import type { Assets } from '../inventory/store/assets.ts';
import type { OpenAlerts } from '../inventory/store/open-alerts.ts';
import { ProjectionError } from '../inventory/store/skipped-events.ts';
import { limits } from '../limits.ts';
import type { FromProjector, ProjectorPort } from '../projections/delta.ts';
import type { InventoryEngine, StreamPosition } from '../projections/inventory-engine.ts';
import type { StoreScrub } from './store-scrub.ts';

interface ProcessingParts {
  readonly queue: GroupCommit;
  readonly events: EventStore;
  readonly inventory: InventoryEngine<Assets>;
  readonly correlations: Correlations;
  readonly openAlerts: OpenAlerts;
  readonly scrub: StoreScrub;
  openProjector(receive: (message: FromProjector) => void): ProjectorPort;
  /** Refreshes alerts of ongoing activity, if due. Returns the delay until the next refresh, in milliseconds. */
  refreshAlerts(): number | undefined;
  /** Reloads all in-memory table content after an aborted transaction. Calls `repeatLater`. */
  reload(): void;
  /** Returns whether the volume or the file has room for a small transaction. */
  mayWrite(): boolean;
  believedMs(): number;
}

/** Time after which the results of an aborted transaction are applied again, in milliseconds. */
const repeatMs = 100;
/** Maximum time that a stop waits for the last delta, in milliseconds. Later, its events are processed again. */
const lastDeltaMs = 5000;
/** Interval between checks of whether earlier events are processed, in milliseconds. */
const countedPollMs = 2;
/**
 * Time after which in-memory counters are rebuilt after an aborted transaction, unless another transaction
 * rebuilds them first.
 */
export const afterUndoneMs = 5000;

/**
 * Processing of stored events: the projector, the transactions that apply and write the projector's deltas, and the
 * events and damage that stop the processing.
 */
export class EventProcessing {
  readonly projector: ProjectorPort;
  readonly #parts: ProcessingParts;
  readonly #inventory: InventoryEngine<Assets>;
  readonly #queue: GroupCommit;
  #finished: (() => void) | undefined;
  #inventoryTimer: NodeJS.Timeout | undefined;
  /** Time of the next write of the inventory, by performance.now(). */
  #inventoryDueAt = 0;
  #fallTimer: NodeJS.Timeout | undefined;
  /** Message of the damage that stopped the processing of events. */
  #halted: string | undefined;
  /** Whether an error other than damage stopped the processing of events. */
  #stopped = false;
  #closing = false;

  constructor(parts: ProcessingParts) {
    this.#parts = parts;
    this.#inventory = parts.inventory;
    this.#queue = parts.queue;
    this.projector = parts.openProjector((message) => this.#received(message));
  }

  start(): void {
    if (!this.isHalted) this.#inventory.start();
    this.#awaitFall();
    this.#goOnIn(0);
  }

  get isHalted(): boolean {
    return this.#halted !== undefined || this.#stopped;
  }

  /** Returns what stopped processing, and the events that are skipped. */
  damage(): Pick<StoreDamage, 'halted' | 'stopped' | 'skipped'> {
    return { ...omitUndefined({ halted: this.#halted }), stopped: this.#stopped, skipped: this.#inventory.skipped };
  }

  /** Called at the end of each transaction: processes events, refreshes alerts, and schedules the rest of this work. */
  checkpoint(turn: Turn): void {
    if (this.isHalted) return;
    // Restores memory when an aborted work transaction is repeated.
    if (turn === 'work') this.#resume();
    const refreshedMs = turn === 'urgent' ? undefined : this.#parts.refreshAlerts();
    // Work that waits now continues in the next transaction, unless the disk is full.
    for (const againMs of [refreshedMs, this.#inventory.checkpoint(turn)])
      if (againMs !== undefined) this.#goOnIn(againMs > 0 ? againMs : afterUndoneMs);
    this.#awaitFall();
  }

  /** Schedules a transaction that applies the results of an aborted transaction again. */
  repeatLater(): void {
    if (!this.#closing) this.#goOnIn(this.#parts.mayWrite() ? repeatMs : afterUndoneMs);
  }

  /** Resolves when all events that are stored now are processed, and the results are written. */
  async processed(): Promise<void> {
    // An aborted transaction may discard results that are not written yet.
    for (let isWritten = false; !isWritten; ) {
      const place = await this.#counted();
      isWritten = await this.#queue.submit(smallChangeBytes, () => () => {
        this.#inventory.force();
        return this.#inventory.hasReached(place);
      });
    }
  }

  /** Commits a change that must be planned after all earlier events were processed. */
  async afterEvents<T>(bytes: number, plan: Plan<T>): Promise<T> {
    for (;;) {
      const place = await this.#counted();
      const done = await this.#queue.submit(bytes, () => {
        if (!this.#inventory.readyTo(place)) return () => undefined;
        const write = plan();
        return () => ({ result: write() });
      });
      if (done !== undefined) return done.result;
    }
  }

  /**
   * Waits for the last delta of the projector, with the states of all detectors, and submits the last write. Called
   * before the queue is closed.
   */
  async finish(): Promise<void> {
    this.#closing = true;
    const finished = new Promise<void>((resolve) => {
      this.#finished = resolve;
    });
    this.projector.send({ kind: 'finish' });
    await Promise.race([finished, pause(lastDeltaMs, undefined, { ref: false })]);
    this.#inventoryStep(() => {
      this.#inventory.applyAll();
      this.#inventory.force();
      this.#parts.correlations.write();
    });
  }

  async close(): Promise<void> {
    await this.projector.close();
    clearTimeout(this.#inventoryTimer);
    clearTimeout(this.#fallTimer);
  }

  /**
   * Stops deriving data from events because a required row is damaged. Events are still stored, and are
   * processed after a repair.
   */
  damaged(error: ServiceError): void {
    this.#parts.scrub.foundBy(error);
    this.#halted ??= error.message;
    this.#inventory.halt();
  }

  /**
   * Continues after an error in processing: skips the event that causes the error, or stops processing until the next
   * start. Always returns true.
   */
  skip(error: ProjectionError): boolean {
    this.#parts.reload();
    const skipped = this.#inventory.skip(error);
    if (skipped === undefined) {
      process.emitWarning(`processing of events has stopped until the next start: ${error.stack}`);
      this.#stopped = true;
      this.#inventory.halt();
    } else if (skipped !== 'retried')
      process.emitWarning(`${skipped} is skipped by detectors, assets and statistics: ${error.stack}`);
    return true;
  }

  #received(message: FromProjector): void {
    if (message.kind === 'delta') {
      this.#inventory.receive(message.delta);
      this.#queue.wake();
      // Without room, the queue does no work until the next call.
      if (!this.#parts.mayWrite()) this.#goOnIn(afterUndoneMs);
    } else if (message.kind === 'damaged') this.#parts.scrub.foundRow(message.row);
    else if (message.kind === 'finished') this.#finished?.();
    else void this.#projectorFailed(message);
  }

  /** Continues after an error of the projector: without the damaged block or the event that causes the error. */
  async #projectorFailed(message: Extract<FromProjector, { kind: 'failed' }>): Promise<void> {
    const { error, rows, start } = message;
    if (this.#closing || this.isHalted || !this.#inventory.isCurrent(start)) return;
    if (!isDamage(error)) {
      this.skip(new ProjectionError(error, rows === undefined ? {} : { rows }));
      return this.#queue.wake();
    }
    const { table, block } = error.details ?? {};
    const events = eventTables.find((name) => name === table);
    if (events === undefined || typeof block !== 'number') return this.damaged(error);
    const isFound = await this.#queue
      .submit(smallChangeBytes, () => () => this.#parts.events.check(events, block))
      .catch((failure: unknown) => {
        if (!(failure instanceof ServiceError)) throw failure;
        return false;
      });
    // The disk is full, or the damage is gone: the projector tries again after a pause.
    if (!isFound) await pause(afterUndoneMs, undefined, { ref: false });
    if (this.#closing) return;
    // Memory may hold results of events that the projector processes again.
    this.#parts.reload();
    if (!this.isHalted) this.#inventory.start();
  }

  /**
   * Schedules a transaction that continues processing or writing the inventory and refreshing alerts, unless
   * another transaction comes first.
   */
  #goOnIn(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#inventoryTimer !== undefined && this.#inventoryDueAt <= at) return;
    clearTimeout(this.#inventoryTimer);
    this.#inventoryDueAt = at;
    this.#inventoryTimer = setTimeout(() => {
      this.#inventoryTimer = undefined;
      this.#inventoryStep(() => this.#resume());
    }, delayMs).unref();
  }

  /**
   * Schedules a transaction for the next fall of a risk score, if any. Scores that fall together share a
   * transaction.
   */
  #awaitFall(): void {
    const { openAlerts, believedMs } = this.#parts;
    if (this.#fallTimer !== undefined || this.#closing) return;
    const next = openAlerts.nextFall;
    if (next === undefined) return;
    const delayMs = Math.min(Math.max(next - believedMs(), limits.riskPauseMs), limits.riskLookMs);
    this.#fallTimer = setTimeout(() => {
      this.#fallTimer = undefined;
      if (this.isHalted) return;
      const due = openAlerts.nextFall;
      if (due !== undefined && due <= believedMs()) this.#inventoryStep(() => openAlerts.fall());
      else this.#awaitFall();
    }, delayMs).unref();
  }

  #resume(): void {
    this.#inventory.resume();
    this.#parts.correlations.resume();
  }

  #inventoryStep(step: () => void): void {
    const done = this.#queue.submit(smallChangeBytes, () => step);
    // The events of a step that is aborted because the disk is full are processed again later.
    done.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      if (!this.#closing) this.#goOnIn(afterUndoneMs);
    });
  }

  /** Waits until all events stored at the time of the call are processed, while other commits continue. */
  async #counted(): Promise<StreamPosition> {
    const place = this.#inventory.stored;
    this.#inventory.hurry();
    while (!this.#inventory.hasReached(place)) {
      this.#requireProcessing();
      await pause(countedPollMs);
    }
    this.#requireProcessing();
    return place;
  }

  /** Throws if waiting events will not be processed. */
  #requireProcessing(): void {
    if (this.#closing) throw new ServiceError('UNAVAILABLE', 'the store is closing');
    if (this.#halted !== undefined) throw new ServiceError('INTERNAL', this.#halted);
    if (this.#stopped) throw new ServiceError('INTERNAL', 'processing of events has stopped; see /health');
    if (!this.#parts.mayWrite()) throw diskIsFull();
  }
}
