import { limits } from '../limits.ts';

/** What a large body arrives in. */
export const blockBytes = 256 * 2 ** 10;

/**
 * Blocks that bodies arrived in, kept for those to come: memory that was touched before. Fresh pages cost more than the
 * bytes that go into them, 2.1 ms for 3.7 MB where copying takes 0.3, and giving them back stops all threads for a moment.
 * At most `limits.maxSpareBodyBytes` are kept.
 */
class SpareBlocks {
  readonly #spare: ArrayBuffer[] = [];

  /** What is in it is of an earlier body. */
  take(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(blockBytes));
  }

  /** Nobody else may hold them. Those of another size are left to the garbage collector. */
  give(blocks: readonly ArrayBuffer[]): void {
    for (const block of blocks) {
      if (this.#spare.length * blockBytes >= limits.maxSpareBodyBytes) return;
      if (block.byteLength === blockBytes) this.#spare.push(block);
    }
  }
}

/** Of this thread: bodies arrive in one only. */
export const spareBlocks = new SpareBlocks();
