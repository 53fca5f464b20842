import { open } from 'node:fs/promises';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { appendToFile } from '../durable-file.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHealth } from './ledger.ts';
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
  | (Line & { readonly event: 'initialised' | 'start' | 'day' })
  /**
   * The log went back on purpose, to `head`. `replaced` is the largest head known before; undefined when none was.
   * From this line on only it and later ones count as evidence of a rollback.
   */
  | (Line & { readonly event: 'restored' | 'rebuilt'; readonly replaced: SignedHead | undefined });

/** A restore or rebuild that the journal tells of. */
export interface Regression {
  readonly at: string;
  readonly event: 'restored' | 'rebuilt';
  /** Leaves known before, and leaves that it went back to. */
  readonly from_size: number;
  readonly to_size: number;
}

/** A head in the journal that no key of this log signed. */
export interface UnsignedLine {
  /** Counted from 1, within the part that was read. */
  readonly line: number;
  /** Leaves that it claims. */
  readonly size: number;
}

export interface JournalReading {
  /** Signed heads since the last restore or rebuild, in the order of the file. */
  readonly heads: readonly SignedHead[];
  /** The one of them with the largest tree. */
  readonly largest: SignedHead | undefined;
  /** The last restore or rebuild. */
  readonly regression: Regression | undefined;
  /** Lines since then whose head isn't signed by a key of this log: the newest of them, how many, the largest size. */
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
   * handed out too, and where one claims more leaves than the log has, start-up asks for a person (startup.ts). A
   * restore or rebuild is believed only with a signed head as well, or it would be the easiest way to hide one. Who can
   * write this file can still cut its end off; against that there is the anchor, on another volume, and the auditors.
   *
   * @param isSigned - whether a key of this log made the signature
   * @throws Error with one clear line where the file is there but can't be read
   */
  async read(isSigned: (head: SignedHead) => boolean): Promise<JournalReading> {
    const reading = new Reading(isSigned);
    for (const line of (await readTail(this.#path, tailBytes)).split('\n')) reading.take(line);
    return reading;
  }
}

class Reading implements JournalReading {
  readonly #isSigned: (head: SignedHead) => boolean;
  #line = 0;
  heads: SignedHead[] = [];
  regression: Regression | undefined;
  unsigned: { lines: UnsignedLine[]; count: number; largest: number } = { lines: [], count: 0, largest: 0 };
  lastAt: Date | undefined;
  unreadable = 0;

  constructor(isSigned: (head: SignedHead) => boolean) {
    this.#isSigned = isSigned;
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
    if (head !== undefined && !this.#isSigned(head)) return this.#unsigned(head.size);
    if (line.went !== undefined) this.#wentBack(line.went, head);
    if (head !== undefined) this.heads.push(head);
  }

  #unsigned(size: number): void {
    const { lines, count, largest } = this.unsigned;
    lines.push({ line: this.#line, size });
    if (lines.length > maxListed) lines.shift();
    this.unsigned = { lines, count: count + 1, largest: Math.max(largest, size) };
  }

  #wentBack(went: WentBack, head: SignedHead | undefined): void {
    const toSize = head?.size ?? 0;
    this.regression = { at: went.at, event: went.event, from_size: went.fromSize, to_size: toSize };
    if (head === undefined) return; // nothing vouches for it: a log begun anew has a journal of its own
    this.heads = [];
    this.unsigned = { lines: [], count: 0, largest: 0 };
  }
}

/** What a journal without lines remembers. */
export const noJournal: JournalReading = new Reading(() => false);

interface WentBack {
  readonly at: string;
  readonly event: 'restored' | 'rebuilt';
  readonly fromSize: number;
}

interface Parsed {
  readonly at: Date;
  readonly health: unknown;
  readonly head: SignedHead | undefined;
  /** Of a restore or rebuild. */
  readonly went: WentBack | undefined;
}

function parse(text: string): Parsed | undefined {
  try {
    const { at, event, health, head, replaced } = JSON.parse(text);
    if (typeof at !== 'string' || typeof event !== 'string') return undefined;
    const signed = head === undefined ? undefined : fromJson(head);
    const about = { at: new Date(at), health, head: signed };
    if (event !== 'restored' && event !== 'rebuilt') return { ...about, went: undefined };
    const fromSize = replaced === undefined ? (signed?.size ?? 0) : fromJson(replaced).size;
    return { ...about, went: { at, event, fromSize } };
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
    }).slice(1, -1),
  ];
  if (head !== undefined) members.push(`"head":${writeTreeHead(toJson(head))}`);
  if ('replaced' in line && line.replaced !== undefined) {
    members.push(`"replaced":${writeTreeHead(toJson(line.replaced))}`);
  }
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
