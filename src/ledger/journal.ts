import { open } from 'node:fs/promises';
import { writeTreeHead } from '../contract/resources/transparency.ts';
import { appendToFile } from './durable-file.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHealth } from './ledger.ts';
import type { SignedHead } from './storage.ts';

/** Read back at start-up: ten years of days and starts. */
const tailBytes = 4 * 2 ** 20;

export interface JournalLine {
  readonly at: Date;
  readonly event: 'initialised' | 'start' | 'day';
  /** Undefined while the log is empty. */
  readonly head: SignedHead | undefined;
  readonly health: LedgerHealth;
}

/**
 * The operator's record of heads: an append-only file, one JSON line for each start and each day, with the whole head.
 * A line that a crash cut short is left as it is; the next one begins on a line of its own.
 */
export class Journal {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when the line is on disk. Lines are written in the order of the calls. */
  write(line: JournalLine): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const tail = await readTail(this.#path, 1);
      const start = tail === '' || tail === '\n' ? '' : '\n';
      await appendToFile(this.#path, `${start}${format(line)}\n`, 0o644);
    });
    return this.#writing;
  }

  /** The head of the largest tree among the readable lines; undefined when none has a head. */
  async largestHead(): Promise<SignedHead | undefined> {
    let largest: SignedHead | undefined;
    for (const line of (await readTail(this.#path, tailBytes)).split('\n')) {
      const head = headOf(line);
      if (head !== undefined && (largest === undefined || head.size >= largest.size)) largest = head;
    }
    return largest;
  }
}

function format(line: JournalLine): string {
  const { at, event, head, health } = line;
  const start = JSON.stringify({
    at: at.toISOString(),
    event,
    health: health.state,
    ...(health.state === 'degraded' ? { fault: health.fault } : {}),
  });
  return head === undefined ? start : `${start.slice(0, -1)},"head":${writeTreeHead(toJson(head))}}`;
}

/** Lines written while degraded tell what was found then, not what the log had promised: they don't count. */
function headOf(line: string): SignedHead | undefined {
  try {
    const parsed = JSON.parse(line);
    return parsed.health === 'ok' && parsed.head !== undefined ? fromJson(parsed.head) : undefined;
  } catch {
    return undefined;
  }
}

async function readTail(path: string, bytes: number): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}
