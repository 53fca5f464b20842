import { limits } from '../../limits.ts';
import type { LiveBatch } from './channel.ts';

/**
 * The last batches of a channel, in order and without a gap: where a replay that has read the disk up to here goes on,
 * so that it need not catch up with a head that moves while it reads.
 */
export class RecentBatches {
  #batches: LiveBatch[] = [];
  #bytes = 0;
  #floor: number;

  /** @param head - sequence of the newest commit before the first that will be pushed */
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

  /** Forgets all; what is pushed next follows `head`. */
  restart(head: number): void {
    this.#batches = [];
    this.#bytes = 0;
    this.#floor = head;
  }

  /** The batches with anything past this sequence, oldest first; undefined where they are not all here. */
  since(seq: number): LiveBatch[] | undefined {
    if (seq < this.#floor) return undefined;
    let first = this.#batches.length;
    while (first > 0 && this.#batches[first - 1]!.lastSeq > seq) first--;
    return this.#batches.slice(first);
  }
}
