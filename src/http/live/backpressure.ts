import { type LimitName, limits } from '../../limits.ts';

/** A receiver that can leave bytes unread, such as a socket. */
export interface Backlogged {
  /** Returns the number of bytes that were sent to the receiver and that it has not read yet. */
  backlogBytes(): number;
}

/** Decides how many bytes each reader may leave unread, depending on the total of all readers. */
export class Backpressure {
  readonly #limitReached: (limit: LimitName) => void;
  /** The last known number of unread bytes of each reader that has any. */
  readonly #bytes = new Map<Backlogged, number>();
  #total = 0;
  #full = false;

  constructor(limitReached: (limit: LimitName) => void) {
    this.#limitReached = limitReached;
  }

  get total(): number {
    return this.#total;
  }

  /** Updates a reader's backlog. Must be called after sending to the reader and after it has read. */
  look(reader: Backlogged): void {
    this.#set(reader, reader.backlogBytes());
  }

  forget(reader: Backlogged): void {
    this.#set(reader, 0);
  }

  /** Returns whether there is room for another message. */
  hasRoom(reader: Backlogged): boolean {
    return reader.backlogBytes() <= this.#allowance();
  }

  /** Returns whether the reader has read enough to resume after a gap. */
  hasCaughtUp(reader: Backlogged): boolean {
    return reader.backlogBytes() <= this.#allowance() / 2;
  }

  #allowance(): number {
    return this.#full ? limits.maxSocketBacklogBytes / 32 : limits.maxSocketBacklogBytes;
  }

  #set(reader: Backlogged, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(reader) ?? 0);
    if (bytes === 0) this.#bytes.delete(reader);
    else this.#bytes.set(reader, bytes);
    const full = this.#total >= limits.maxTotalSocketBacklogBytes;
    if (full && !this.#full) this.#limitReached('maxTotalSocketBacklogBytes');
    this.#full = full;
  }
}
