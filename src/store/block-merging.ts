import type { GroupCommit } from '../database/group-commit.ts';
import { isDamage } from '../database/rows.ts';
import { ServiceError } from '../errors.ts';
import { tables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import type { EventStore } from '../events/store/event-store.ts';
import type { OpenBlockMerger } from './block-merger.ts';

interface MergingParts {
  readonly queue: GroupCommit;
  readonly events: EventStore;
  /** Starts the merger, with the first merge. */
  openMerger(): ReturnType<OpenBlockMerger>;
  /** Returns whether the disk has room for merged blocks. */
  hasRoom(): boolean;
  /** Returns whether few events wait to be processed: filling a block takes as long as processing its events. */
  mayFill(): boolean;
  /** Sets a damaged block aside. */
  damaged(error: ServiceError): Promise<void>;
}

/** Pause before each merge, in milliseconds. */
const pauseMs = 10;

/**
 * Merges small blocks of network and DNS events in the background, also while commits wait. The merger builds the
 * merged blocks, and a call of the store's queue writes them, in one transaction with other calls. While commits wait,
 * only runs that cannot grow are merged, so that each row is rewritten once.
 */
export class BlockMerging {
  readonly #parts: MergingParts;
  #merger: ReturnType<OpenBlockMerger> | undefined;
  readonly #timers = new Map<Table, NodeJS.Timeout>();
  readonly #merges = new Map<Table, Promise<void>>();
  #isClosing = false;

  constructor(parts: MergingParts) {
    this.#parts = parts;
  }

  /** Looks for blocks to merge soon. Must be called when blocks were stored, and when the disk may have room again. */
  wake(): void {
    for (const table of tables) {
      if (this.#isClosing || this.#timers.has(table) || this.#merges.has(table)) continue;
      const timer = setTimeout(() => {
        this.#timers.delete(table);
        this.#merges.set(table, this.#merge(table));
      }, pauseMs);
      this.#timers.set(table, timer.unref());
    }
  }

  /** Ends merging. The queue must be closed: the result of a merge in progress is not written. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#merges.values());
    await (await this.#merger)?.close();
  }

  async #merge(table: Table): Promise<void> {
    let mayGoOn = false;
    try {
      mayGoOn = await this.#mergeOne(table);
    } catch (error) {
      // The disk is full, the merger is restarting, or the store is closing: merging goes on with the next `wake`.
      if (!(error instanceof ServiceError)) throw error;
    }
    this.#merges.delete(table);
    if (mayGoOn) this.wake();
  }

  /** Merges one run. Returns false if no run is worth merging, or if there is no room. */
  async #mergeOne(table: Table): Promise<boolean> {
    const { queue, events, hasRoom, mayFill, damaged } = this.#parts;
    if (!hasRoom()) return false;
    const run = events.smallBlocks(table, { grows: queue.pending === 0, fills: mayFill() });
    if (run === undefined) return false;
    this.#merger ??= this.#parts.openMerger();
    const { api } = await this.#merger;
    let blocks: readonly ArrayBuffer[];
    try {
      blocks = await api.merged(run);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await damaged(error);
      return true;
    }
    const bytes = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    await queue.submit(bytes, () => () => events.replace(run, blocks), 'urgent');
    return true;
  }
}
