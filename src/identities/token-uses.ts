import { SerialQueue } from '../files/serial-queue.ts';
import { type LimitName, limits } from '../limits.ts';
import type { IdentityWriter } from './identities.ts';

const minuteMs = 60_000;
/**
 * Maximum token uses per transaction. A transaction takes a few milliseconds, so it does not delay ingest.
 */
const maxUsesPerWrite = 1000;

/**
 * Records when tokens were last used, accurate to the minute. Uses are buffered and written periodically, so
 * that requests do not write. Buffered uses are lost if the process is killed.
 */
export class TokenUses {
  readonly #writer: Pick<IdentityWriter, 'noteTokenUse'>;
  readonly #limitReached: (limit: LimitName) => void;
  /** Minute (since the epoch) of the latest unwritten use by jti. */
  #latest = new Map<string, number>();
  readonly #queue = new SerialQueue();

  constructor(writer: Pick<IdentityWriter, 'noteTokenUse'>, limitReached: (limit: LimitName) => void) {
    this.#writer = writer;
    this.#limitReached = limitReached;
  }

  note(jti: string, nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    const noted = this.#latest.get(jti);
    if (noted === minute) return;
    if (noted !== undefined) this.#latest.set(jti, minute);
    else this.#keep(copyOf(jti), minute);
  }

  /**
   * Writes the buffered uses, and resolves when they are on disk. After a failure, the uses are kept for the
   * next call.
   */
  write(): Promise<void> {
    return this.#queue.run(() => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    const uses = this.#latest;
    this.#latest = new Map();
    try {
      while (uses.size > 0) {
        const part = firstOf(uses);
        await this.#writer.noteTokenUse(part);
        for (const jti of part.keys()) uses.delete(jti);
      }
    } catch (error) {
      for (const [jti, minute] of uses) if (!this.#latest.has(jti)) this.#keep(jti, minute);
      throw error;
    }
  }

  #keep(jti: string, minute: number): void {
    if (this.#latest.size < limits.maxTokenUses) this.#latest.set(jti, minute);
    else this.#limitReached('maxTokenUses');
  }
}

/**
 * Returns a copy of the text. A substring would keep its whole parent in memory: a token record of 500 bytes for
 * a jti of 36 bytes.
 */
const copyOf = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

/**
 * Returns the first uses, at most `maxUsesPerWrite`, in the form that the store expects, with times in ISO
 * 8601.
 */
function firstOf(uses: ReadonlyMap<string, number>): Map<string, string> {
  const part = new Map<string, string>();
  for (const [jti, minute] of uses) {
    part.set(jti, new Date(minute * minuteMs).toISOString());
    if (part.size === maxUsesPerWrite) break;
  }
  return part;
}
