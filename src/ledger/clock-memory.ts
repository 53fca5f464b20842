import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../files/durable-file.ts';
import { SerialQueue } from '../files/serial-queue.ts';
import type { ClockMemory } from './log-clock.ts';

/**
 * State of a log's clock that survives a restart: `clock.json` in the data folder, which exists only while there is
 * state to store. Times are Unix times in nanoseconds, as decimal digits.
 *
 *     {"refused": {"plausible_ns": "…", "clock_ns": "…"}, "accepted_until_ns": "…"}
 */
export class ClockMemoryFile {
  readonly #path: string;
  #written: string;
  readonly #queue = new SerialQueue();

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'clock.json');
    this.#written = format(this.read());
  }

  /** Returns the stored state. A missing or malformed file is read as an empty state, so that the log can start. */
  read(): ClockMemory {
    try {
      return parse(readFileSync(this.#path, 'utf8'));
    } catch {
      return {};
    }
  }

  /**
   * Writes changed state; resolves when it is on disk. A failure is ignored, because the next write contains the
   * complete state.
   */
  write(memory: ClockMemory): Promise<void> {
    const text = format(memory);
    if (text !== this.#written) {
      this.#written = text;
      const write = () => (text === '{}' ? rmSync(this.#path, { force: true }) : this.#replace(text));
      this.#queue.run(write).catch(() => {});
    }
    return this.#queue.idle();
  }

  #replace(text: string): Promise<void> {
    return replaceFile(this.#path, `${text}\n`, { mode: 0o600 });
  }
}

function format({ refused, acceptedUntil }: ClockMemory): string {
  return JSON.stringify({
    refused: refused && { plausible_ns: String(refused.plausible), clock_ns: String(refused.clock) },
    accepted_until_ns: acceptedUntil && String(acceptedUntil),
  });
}

function parse(text: string): ClockMemory {
  const { refused, accepted_until_ns } = JSON.parse(text);
  return {
    ...(refused && { refused: { plausible: BigInt(refused.plausible_ns), clock: BigInt(refused.clock_ns) } }),
    ...(accepted_until_ns && { acceptedUntil: BigInt(accepted_until_ns) }),
  };
}
