import { type LimitName, limits } from '../limits.ts';
import type { IdentityWriter } from './identities.ts';

const minuteMs = 60_000;
/** Written in one transaction: a few milliseconds, so that what sensors send doesn't wait for it. */
const writtenAtOnce = 1000;

/**
 * When tokens were last presented, to the minute. Kept here and written now and then, so that no request writes. A
 * process that is killed forgets what it had not written.
 */
export class TokenUses {
  readonly #writer: Pick<IdentityWriter, 'noteTokenUse'>;
  readonly #limitReached: (limit: LimitName) => void;
  /** Owned here: minute (since the epoch) of the latest use by jti, as far as it was not written. */
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

  /** Resolves when all uses noted so far are on disk. Those that could not be written are kept for the next time. */
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

/** A text that was cut out of a longer one keeps that one alive: 500 bytes of a token's record for 36. */
const copyOf = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

/** As the store takes them: the times in ISO 8601. */
function firstOf(uses: ReadonlyMap<string, number>): Map<string, string> {
  const part = new Map<string, string>();
  for (const [jti, minute] of uses) {
    part.set(jti, new Date(minute * minuteMs).toISOString());
    if (part.size === writtenAtOnce) break;
  }
  return part;
}
