import { type LimitName, limits } from '../limits.ts';
import type { IdentityWriter } from './identities.ts';

const minuteMs = 60_000;
/** Token uses per transaction. A transaction takes a few milliseconds, so ingest is not delayed. */
const maxUsesPerWrite = 1000;

/**
 * Records when tokens were last used, to the minute. Uses are buffered and written periodically, so that
 * requests do not write. Buffered uses are lost if the process is killed.
 */
export class TokenUses {
  readonly #writer: Pick<IdentityWriter, 'noteTokenUse'>;
  readonly #limitReached: (limit: LimitName) => void;
  /** Minute (since the epoch) of the latest unwritten use by jti. */
  #latest = new Map<string, number>();
  #writing: Promise<void> | undefined;

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
   * Writes the uses noted so far and resolves when they are on disk. After a failure they are kept for the
   * next call.
   */
  write(): Promise<void> {
    const before = this.#writing ?? Promise.resolve();
    const written = before.catch(() => undefined).then(() => this.#writeAll());
    this.#writing = written;
    return written;
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

/** Copies the text. A substring keeps its parent alive: 500 bytes of a token record for a jti of 36. */
const copyOf = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

/** Returns the first uses in the form that the store expects, with times in ISO 8601. */
function firstOf(uses: ReadonlyMap<string, number>): Map<string, string> {
  const part = new Map<string, string>();
  for (const [jti, minute] of uses) {
    part.set(jti, new Date(minute * minuteMs).toISOString());
    if (part.size === maxUsesPerWrite) break;
  }
  return part;
}
