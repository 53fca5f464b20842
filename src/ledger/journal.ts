import { open } from 'node:fs/promises';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { appendToFile } from '../files/durable-file.ts';
import { SerialQueue } from '../files/serial-queue.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHealth, LedgerStatus } from './ledger.ts';
import type { SignedHead } from './storage/storage.ts';

/** Bytes read back at start-up: about ten years of daily and start-up lines. */
const tailBytes = 4 * 2 ** 20;

/** Maximum unsigned lines that a reading lists individually; the others are only counted. */
const maxListed = 100;

interface Line {
  readonly at: Date;
  /** The last head; undefined while the log is empty. */
  readonly head: SignedHead | undefined;
  readonly health: LedgerHealth;
}

export type JournalLine =
  | (Line & {
      readonly event: 'initialised' | 'start' | 'day' | 'moved';
      /** Codes of the open findings. */
      readonly findings?: readonly string[];
    })
  /** The log began a new life. `entry` is the canonical form of its signed `log.life_started` entry. */
  | (Line & { readonly event: Regression['event']; readonly entry: Uint8Array });

/** The event with which the current life of the log began. */
export type Regression = NonNullable<LedgerStatus['regression']>;

/** A journal line whose head was not signed by any key of this log. */
export interface UnsignedLine {
  /** Line number within the part that was read, from 1. */
  readonly line: number;
  /** Size that the head claims. */
  readonly size: number;
}

/** A journal line that records the start of a new life of the log. */
export interface LifeLine {
  /** Line number within the part that was read, from 1. */
  readonly line: number;
  /** The entry as recorded in the line, base64. The entry is accepted only if the log has the same bytes. */
  readonly entry: string;
}

/** Decides which heads a reading accepts. */
export interface HeadJudge {
  /** Returns whether a key of this log made the signature. */
  isSigned(head: SignedHead): boolean;
  /** Returns whether a key of the current life made the signature. If absent, any key is accepted. */
  isCurrent?(head: SignedHead): boolean;
  /** The latest head of the log, if known. */
  readonly latest?: SignedHead | undefined;
}

export interface JournalReading {
  /** Heads signed in the current life, in the order of the file. */
  readonly heads: readonly SignedHead[];
  /** The head with the largest tree. */
  readonly largest: SignedHead | undefined;
  /** The last restore or rebuild recorded by an earlier version of this program. */
  readonly regression: Regression | undefined;
  readonly lives: readonly LifeLine[];
  /**
   * Lines whose head is not signed by a key of this log. `lines` contains only the newest; `count` and the tree size
   * `largest` include all of them.
   */
  readonly unsigned: {
    readonly lines: readonly UnsignedLine[];
    readonly count: number;
    readonly largest: number;
  };
  /** The latest time of a line that records a healthy log. */
  readonly lastAt: Date | undefined;
  /** Lines that are not valid journal lines, such as a line truncated by a crash. */
  readonly unreadable: number;
}

/**
 * The operator's record of heads: an append-only file with one JSON line for each start and each day, with the whole
 * head. A line truncated by a crash is left as it is; the next record begins on a new line.
 */
export class Journal {
  readonly #path: string;
  readonly #queue = new SerialQueue();

  constructor(path: string) {
    this.#path = path;
  }

  /** Appends a line; resolves when it is on disk. Lines are written in the order of the calls. */
  write(line: JournalLine): Promise<void> {
    return this.#queue.run(async () => {
      const tail = await readTail(this.#path, 1);
      const start = tail === '' || tail === '\n' ? '' : '\n';
      await appendToFile(this.#path, `${start}${format(line)}\n`, 0o644);
    });
  }

  /**
   * Reads and evaluates the journal.
   *
   * A head is accepted only with a valid signature. Any process can write a size into the journal, and a false size
   * must not stop a log as if it had been rolled back. Lines with an invalid signature are not ignored either, because
   * then one flipped digit would hide a rollback. These lines are returned separately. If such a line claims more
   * leaves than the log has, start-up raises a finding for the operator (open.ts).
   *
   * Heads of earlier lives are ignored: the signed entry that began the current life records what happened to their
   * log. A journal line alone never justifies a smaller log. Earlier versions of this program wrote unsigned `restored`
   * and `rebuilt` lines. Such a line justifies ignoring the heads signed before its time only if the log signed a head
   * after that time. A rolled-back log has no such head, so these lines cannot be forged or moved to hide a rollback.
   *
   * An attacker with write access to this file can still truncate it. The anchor, on another volume, and the auditors
   * protect against truncation.
   *
   * @throws Error with a one-line message if the file exists but cannot be read
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
  /** Unsigned `restored` and `rebuilt` lines of earlier versions, in the order of the file. */
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
    // Lines written while the log was degraded are ignored: their heads were read from disk but not confirmed.
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

  /** Applies the last unsigned `restored` or `rebuilt` line that is older than the newest head of the log. */
  end(): void {
    const { latest } = this.#judge;
    const times = [...this.heads, ...(latest === undefined ? [] : [latest])].map(({ timestampNs }) => timestampNs);
    const newest = times.reduce((most, time) => (time > most ? time : most), 0n);
    const last = this.#regressions.findLast(({ regression }) => nanoseconds(regression.at) < newest);
    this.regression = last?.regression;
    if (last?.hasHead !== true) return;
    const since = nanoseconds(last.regression.at);
    this.heads = this.heads.filter(({ timestampNs }) => timestampNs > since);
    this.#unsigned = this.#unsigned.filter(({ timestampNs }) => timestampNs > since);
  }
}

/** A journal without lines. */
export const noJournal: JournalReading = new Reading({ isSigned: () => false });

function nanoseconds(at: string): bigint {
  return BigInt(Date.parse(at)) * 1_000_000n;
}

interface Parsed {
  readonly at: Date;
  readonly health: unknown;
  readonly head: SignedHead | undefined;
  /** The entry of a line that starts a life, base64; undefined for other lines. */
  readonly entry: string | undefined;
  /** The regression that an unsigned `restored` or `rebuilt` line records; undefined for other lines. */
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
  return new Error(`the journal ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
}
