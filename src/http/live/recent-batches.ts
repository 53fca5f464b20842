import { limits } from '../../limits.ts';
import type { LiveBatch } from './channel.ts';

/**
 * The latest batches of a channel, in order and without gaps. A replay that has read from disk up to these batches
 * continues with the batches here, so that the replay ends although new batches arrive.
 */
export class RecentBatches {
  #batches: LiveBatch[] = [];
  #bytes = 0;
  #floor: number;

  /** @param head - sequence of the newest commit before the first batch */
  constructor(head: number) {
    this.#floor = head;
  }

  push(batch: LiveBatch): void {
    this.#batches.push(batch);
    this.#bytes += batch.bytes;
    while (this.#batches.length > limits.maxRecentBatches || this.#bytes > limits.maxRecentBatchBytes) {
      const oldest = this.#batches.shift();
      if (!oldest) break;
      this.#bytes -= oldest.bytes;
      this.#floor = oldest.lastSeq;
    }
  }

  /** Removes all batches. The next batch must follow `head`. */
  restart(head: number): void {
    this.#batches = [];
    this.#bytes = 0;
    this.#floor = head;
  }

  /** Returns the batches after `seq`, oldest first; undefined if a batch is missing. */
  since(seq: number): LiveBatch[] | undefined {
    if (seq < this.#floor) return undefined;
    let first = this.#batches.length;
    while (first > 0 && this.#batches[first - 1]!.lastSeq > seq) first--;
    return this.#batches.slice(first);
  }
}
