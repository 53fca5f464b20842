import { open } from 'node:fs/promises';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { appendToFile } from '../durable-file.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHealth, LedgerStatus } from './ledger.ts';
import type { SignedHead } from './storage/storage.ts';

/** Read back at start-up: ten years of days and starts. */
const tailBytes = 4 * 2 ** 20;

/** Altered lines that a reading lists one by one; the rest are counted. */
const maxListed = 100;

interface Line {
  readonly at: Date;
  /** Undefined while the log is empty. */
  readonly head: SignedHead | undefined;
  readonly health: LedgerHealth;
}

export type JournalLine =
  | (Line & {
      readonly event: 'initialised' | 'start' | 'day' | 'moved';
      /** Codes of the findings that are open. */
      readonly findings?: readonly string[];
    })
  /** The log began a new life. `entry` is the canonical form of its signed `log.life_started` entry. */
  | (Line & { readonly event: Regression['event']; readonly entry: Uint8Array });

/** How the log came to its current life. */
export type Regression = NonNullable<LedgerStatus['regression']>;

/** A head in the journal that no key of this log signed. */
export interface UnsignedLine {
  /** Counted from 1, within the part that was read. */
  readonly line: number;
  /** Leaves that it claims. */
  readonly size: number;
}

/** A line that says that the log began a new life. */
export interface LifeLine {
  /** Counted from 1, within the part that was read. */
  readonly line: number;
  /** The entry as the line has it, base64. It counts only where the log has the same bytes. */
  readonly entry: string;
}

/** Whose heads a reading accepts. */
export interface HeadJudge {
  /** A key of this log made the signature. */
  isSigned(head: SignedHead): boolean;
  /** It was a key of the current life. Default: any. */
  isCurrent?(head: SignedHead): boolean;
  /** The head that the log ends with, where it is known. */
  readonly latest?: SignedHead | undefined;
}

export interface JournalReading {
  /** Heads signed in the current life, in the order of the file. */
  readonly heads: readonly SignedHead[];
  /** The one of them with the largest tree. */
  readonly largest: SignedHead | undefined;
  /** The last restore or rebuild of an earlier version of this program. */
  readonly regression: Regression | undefined;
  readonly lives: readonly LifeLine[];
  /** Lines whose head isn't signed by a key of this log: the newest of them, how many, the largest size. */
  readonly unsigned: {
    readonly lines: readonly UnsignedLine[];
    readonly count: number;
    readonly largest: number;
  };
  /** The latest time of a line that says that the log was well. */
  readonly lastAt: Date | undefined;
  /** Lines that are no JSON of ours, such as one that a crash cut short. */
  readonly unreadable: number;
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
    const written = this.#writing.then(async () => {
      const tail = await readTail(this.#path, 1);
      const start = tail === '' || tail === '\n' ? '' : '\n';
      await appendToFile(this.#path, `${start}${format(line)}\n`, 0o644);
    });
    this.#writing = written.catch(() => {});
    return written;
  }

  /**
   * What the journal remembers.
   *
   * A head counts only with its signature: anybody can write down a size, and a log that never had it must not be
   * stopped by that as if it had been rolled back. Nor may a line that fails its signature be passed over as if it
   * weren't there: that would make one flipped digit as good as a rollback that nobody notices. So such lines are
   * handed out too, and where one claims more leaves than the log has, start-up asks for a person (startup.ts).
   *
   * Heads of earlier lives do not count: what became of their log is in the signed entry that began the current life. A
   * line by itself excuses nothing. Earlier versions of this program wrote unsigned `restored` and `rebuilt` lines; such a
   * line excuses the heads that were signed before its time only where the log signed a head after that time. A log that
   * was rolled back has no such head, so that these lines cannot be forged, or moved, to hide a rollback.
   *
   * An attacker who can write this file can still cut off its end; against that there is the anchor, on another volume,
   * and the auditors.
   *
   * @throws Error with one clear line where the file is there but can't be read
   */
  async read(judge: HeadJudge): Promise<JournalReading> {
    const reading = new Reading(judge);
    for (const line of (await readTail(this.#path, tailBytes)).split('\n')) reading.take(line);
    reading.end();
    return reading;
  }
}

class Reading implements JournalReading {
  readonly #judge: HeadJudge;
  #line = 0;
  heads: SignedHead[] = [];
  lives: LifeLine[] = [];
  /** Lines of earlier versions, in the order of the file. */
  #regressions: { readonly regression: Regression; readonly hasHead: boolean }[] = [];
  regression: Regression | undefined;
  lastAt: Date | undefined;
  #unsigned: (UnsignedLine & { readonly timestampNs: bigint })[] = [];
  unreadable = 0;

  constructor(judge: HeadJudge) {
    this.#judge = judge;
  }

  get unsigned(): JournalReading['unsigned'] {
    const lines = this.#unsigned.map(({ line, size }) => ({ line, size }));
    const largest = lines.reduce((most, { size }) => Math.max(most, size), 0);
    return { lines: lines.slice(-maxListed), count: lines.length, largest };
  }

  get largest(): SignedHead | undefined {
    return this.heads.reduce<SignedHead | undefined>(
      (most, head) => (most === undefined || head.size >= most.size ? head : most),
      undefined,
    );
  }

  take(text: string): void {
    this.#line += 1;
    if (text === '') return;
    const line = parse(text);
    if (line === undefined) {
      this.unreadable += 1;
      return;
    }
    // Lines written while degraded tell what was found then, not what the log had promised: they don't count.
    if (line.health !== 'ok') return;
    const { head, at } = line;
    if (at.getTime() > (this.lastAt?.getTime() ?? 0)) this.lastAt = at;
    if (line.entry !== undefined) this.lives.push({ line: this.#line, entry: line.entry });
    const { isSigned, isCurrent = () => true } = this.#judge;
    if (head !== undefined && !isSigned(head)) {
      this.#unsigned.push({ line: this.#line, size: head.size, timestampNs: head.timestampNs });
      return;
    }
    if (line.regression !== undefined)
      this.#regressions.push({ regression: line.regression, hasHead: head !== undefined });
    if (head !== undefined && isCurrent(head)) this.heads.push(head);
  }

  /** Applies the last line of an earlier version that the log's own later heads confirm. */
  end(): void {
    const { latest } = this.#judge;
    const times = [...this.heads, ...(latest === undefined ? [] : [latest])].map(
      ({ timestampNs }) => timestampNs,
    );
    const newest = times.reduce((most, time) => (time > most ? time : most), 0n);
    const last = this.#regressions.findLast(({ regression }) => nanoseconds(regression.at) < newest);
    this.regression = last?.regression;
    if (last?.hasHead !== true) return;
    const since = nanoseconds(last.regression.at);
    this.heads = this.heads.filter(({ timestampNs }) => timestampNs > since);
    this.#unsigned = this.#unsigned.filter(({ timestampNs }) => timestampNs > since);
  }
}

/** The state of a journal without lines. */
export const noJournal: JournalReading = new Reading({ isSigned: () => false });

function nanoseconds(at: string): bigint {
  return BigInt(Date.parse(at)) * 1_000_000n;
}

interface Parsed {
  readonly at: Date;
  readonly health: unknown;
  readonly head: SignedHead | undefined;
  /** The line that starts a life. */
  readonly entry: string | undefined;
  /** An unsigned `restored` or `rebuilt` line. */
  readonly regression: Regression | undefined;
}

function parse(text: string): Parsed | undefined {
  try {
    const { at, event, health, head: json, replaced, entry } = JSON.parse(text);
    if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof event !== 'string') return undefined;
    const head = json === undefined ? undefined : fromJson(json);
    const line = {
      at: new Date(at),
      health,
      head,
      entry: typeof entry === 'string' ? entry : undefined,
      regression: undefined,
    };
    if (entry !== undefined || (event !== 'restored' && event !== 'rebuilt')) return line;
    const to_size = head?.size ?? 0;
    const from_size = replaced === undefined ? to_size : fromJson(replaced).size;
    return { ...line, regression: { at, event, from_size, to_size } };
  } catch {
    return undefined;
  }
}

function format(line: JournalLine): string {
  const { at, event, head, health } = line;
  const members = [
    JSON.stringify({
      at: at.toISOString(),
      event,
      health: health.state,
      ...(health.state === 'degraded' ? { fault: health.fault } : {}),
      ...('findings' in line && line.findings?.length ? { findings: line.findings } : {}),
      ...('entry' in line ? { entry: Buffer.from(line.entry).toString('base64') } : {}),
    }).slice(1, -1),
  ];
  if (head !== undefined) members.push(`"head":${writeTreeHead(toJson(head))}`);
  return `{${members.join(',')}}`;
}

async function readTail(path: string, bytes: number): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw unreadable(path, error);
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8');
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await file.close();
  }
}

function unreadable(path: string, error: unknown): Error {
  return new Error(
    `the journal ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
  );
}
