import { type LimitName, limits } from '../../limits.ts';

/** What can leave bytes unread: a socket. */
export interface Backlogged {
  /** Bytes sent to it that it has not read yet. */
  backlogBytes(): number;
}

/** How much each reader may leave unread, given what all of them have. Owner of these figures. */
export class Backlogs {
  readonly #limitReached: (limit: LimitName) => void;
  /** Of those with something unread: how much when last looked at. */
  readonly #bytes = new Map<Backlogged, number>();
  #total = 0;
  #full = false;

  constructor(limitReached: (limit: LimitName) => void) {
    this.#limitReached = limitReached;
  }

  get total(): number {
    return this.#total;
  }

  /** Looks at a reader's backlog, to be called after sending and after it has read. */
  look(reader: Backlogged): void {
    this.#set(reader, reader.backlogBytes());
  }

  forget(reader: Backlogged): void {
    this.#set(reader, 0);
  }

  /** There is room for one more message. */
  hasRoom(reader: Backlogged): boolean {
    return reader.backlogBytes() <= this.#allowance();
  }

  /** It has read so much that sending may go on after a gap. */
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
