import { setImmediate, setTimeout } from 'node:timers/promises';
import { diskIsFull, type GroupCommit, isMapFull } from '../database/group-commit.ts';
import { isDamage } from '../database/rows.ts';
import { ServiceError } from '../errors.ts';
import { tables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import type { BlockRun, EventStore } from '../events/store/event-store.ts';
import type { OpenMerger } from './block-merger.ts';

interface MergingParts {
  readonly queue: GroupCommit;
  readonly events: EventStore;
  /** Opens the merger, with the first merge. */
  openMerger(): OpenMerger;
  /** Returns whether the disk has room for merged blocks. */
  hasRoom(): boolean;
  /** Returns whether few events wait to be processed, so that large blocks may be filled. */
  mayFill(): boolean;
  /** Checks a block. Sets it aside and returns true if it is damaged. */
  check(table: Table, block: number): Promise<boolean>;
  /** Reports damage that is not in one block. */
  damaged(error: ServiceError): void;
  /** Reloads in-memory table content after an aborted transaction. */
  reload(): void;
  /** Pause after an error, in milliseconds. Default: 20 seconds. */
  readonly retryMs?: number;
}

/** Maximum runs that are merged before blocks are chosen again. */
const maxRuns = 4;
/** Minimum pause before blocks are chosen, in milliseconds. */
const minPauseMs = 10;
/** The pause in units of the time that the last choice took, which grows with the number of blocks. */
const pauseShare = 9;
/** Interval at which runs that can still grow are merged while commits wait, in milliseconds. */
const growEveryMs = 1000;
/** A merger that dies at each attempt dies twice within a minute, so that it is not restarted again. */
const defaultRetryMs = 20_000;

/**
 * Merges small blocks of network and DNS events in the background, also while commits wait. The merger builds the
 * merged blocks, and calls of the store's queue write them, in one transaction with waiting commits. Errors of the
 * merger postpone merging, and do not affect the store.
 */
export class BlockMerging {
  readonly #parts: MergingParts;
  #merger: OpenMerger | undefined;
  /** Merging in progress. */
  readonly #running = new Map<Table, Promise<void>>();
  readonly #pauseMs: Record<Table, number> = { network: minPauseMs, dns: minPauseMs };
  /** Time of the next merge of runs that can grow, by performance.now(). */
  readonly #growsAt: Record<Table, number> = { network: 0, dns: 0 };
  readonly #closing = new AbortController();

  constructor(parts: MergingParts) {
    this.#parts = parts;
  }

  /** Merges soon what can be merged. Must be called with each commit of blocks, and when no call waits any more. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    for (const table of tables) if (!this.#running.has(table)) this.#running.set(table, this.#run(table));
  }

  /** Ends merging. The queue must be closed: the results of merges in progress are not written. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
    await this.#merger?.close();
  }

  async #run(table: Table): Promise<void> {
    const { signal } = this.#closing;
    for (let isMore = true; isMore; ) {
      try {
        await setTimeout(this.#pauseMs[table], undefined, { ref: false, signal });
        isMore = await this.#mergeRuns(table);
      } catch (error) {
        if (signal.aborted) break;
        this.#failed(error);
        this.#pauseMs[table] = this.#parts.retryMs ?? defaultRetryMs;
      }
    }
    this.#running.delete(table);
  }

  #failed(error: unknown): void {
    if (isMapFull(error)) this.#parts.reload();
    else if (isDamage(error)) this.#parts.damaged(error);
    else if (!(error instanceof ServiceError)) throw error;
  }

  /** Merges some runs. Returns false if no run is worth merging, or if there is no room. */
  async #mergeRuns(table: Table): Promise<boolean> {
    const { queue, events, hasRoom, mayFill } = this.#parts;
    if (!hasRoom()) return false;
    // Calls that have arrived wait in the port for a turn of the event loop, then in `expose` for another.
    await setImmediate();
    await setImmediate();
    if (this.#closing.signal.aborted) return false;
    const isIdle = queue.pending === 0;
    const began = performance.now();
    const grows = isIdle || began >= this.#growsAt[table];
    const runs = events.smallBlocks(table, { grows, fills: isIdle && mayFill() }, maxRuns);
    const ended = performance.now();
    if (grows) this.#growsAt[table] = ended + growEveryMs;
    this.#pauseMs[table] = Math.max(minPauseMs, pauseShare * (ended - began));
    const merges = await Promise.allSettled(runs.map((run) => this.#merge(run)));
    const [failure, ...others] = merges.filter((merge) => merge.status === 'rejected');
    for (const { reason } of others) this.#failed(reason);
    if (failure !== undefined) throw failure.reason;
    return runs.length > 0;
  }

  async #merge(run: BlockRun): Promise<void> {
    const { queue, events, hasRoom, check } = this.#parts;
    this.#merger ??= this.#parts.openMerger();
    let blocks: readonly ArrayBuffer[];
    try {
      blocks = await this.#merger.api.merged(run);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw this.#warned(error as Error);
      const block = isDamage(error) ? error.details?.block : undefined;
      if (typeof block !== 'number') throw error;
      if (await check(run.table, block)) return;
      throw new ServiceError('UNAVAILABLE', 'retention removed a block of the run');
    }
    const bytes = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    await queue.submit(bytes, () => {
      if (!hasRoom()) throw diskIsFull();
      return () => events.replace(run, blocks);
    });
  }

  #warned(error: Error): ServiceError {
    process.emitWarning(`small blocks could not be merged, and will be tried again: ${error.stack}`);
    return new ServiceError('INTERNAL', error.message);
  }
}
