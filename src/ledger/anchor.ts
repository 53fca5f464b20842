import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { replaceFile } from '../durable-file.ts';
import { readTextFile, UnreadableFile } from '../read-file.ts';
import { Distrust } from './distrust.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHooks } from './hooks.ts';
import type { SignedHead } from './storage/storage.ts';

/** At most a second behind: half of it waiting, half of it for the disk. */
const delayMs = 500;
/** A head is 350 bytes. */
const maxAnchorBytes = 65_536;
/** The longest wait between two attempts to write to a lost volume. */
const maxRetryMs = 30_000;

/** Content of the anchor file. `unreadable`: it exists and holds no head, which an interrupted write cannot cause. */
export type AnchorState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'head'; readonly head: SignedHead };

/** The same, or the reason why the anchor's volume can't be read or written. */
export type ObservedAnchor = AnchorState | { readonly kind: 'unavailable'; readonly why: string };

/** @throws Error with one clear line where the file exists but can't be read. */
export async function readAnchor(path: string): Promise<AnchorState> {
  let text: string;
  try {
    text = await readTextFile(path, maxAnchorBytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    if (error instanceof UnreadableFile) return { kind: 'unreadable', why: error.message };
    throw new Error(`the anchor ${path} cannot be read (${code ?? String(error)})`);
  }
  try {
    return { kind: 'head', head: fromJson(JSON.parse(text)) };
  } catch {
    return { kind: 'unreadable', why: text === '' ? 'it is empty' : 'it is not a tree head' };
  }
}

/** Reads the anchor and checks that its folder can be written to. */
export async function observeAnchor(path: string): Promise<ObservedAnchor> {
  try {
    await checkAnchorFolder(path);
    return await readAnchor(path);
  } catch (error) {
    return { kind: 'unavailable', why: messageOf(error) };
  }
}

/** @throws Error with one clear line */
export async function checkAnchorFolder(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the folder of the anchor ${path} is missing or cannot be written to (${code})`);
  }
}

/** The anchor's content for a head. */
export function anchorText(head: SignedHead): string {
  return `${writeTreeHead(toJson(head))}\n`;
}

export interface AnchorParts {
  readonly path: string;
  /** Whether the file existed at start-up. */
  readonly exists: boolean;
  readonly hooks: LedgerHooks;
  /** Compares the file with the log once the volume is back. @throws Distrust when the log must not go on */
  compare(anchor: AnchorState): void;
  /** Called for each failed attempt: from now on a rollback could go unnoticed. */
  onLost(why: string): void;
  /** The latest head is on disk again. */
  onBack(): void;
  /** `compare` failed. The file is left as it is from now on. */
  onDistrust(reason: Distrust): void;
}

/**
 * Writes the latest head to a small file outside the database, so that a database that was rolled back is recognised.
 * Writes happen off the path of appends; a head that arrives during a write is written by the next one. When the
 * volume is lost, writing is retried with back-off until the volume is back.
 */
export class Anchor {
  readonly #parts: AnchorParts;
  #due: SignedHead | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** Failed attempts in a row. */
  #failures = 0;
  #exists: boolean;
  /** Device of the folder at the last write: another one means that a volume was mounted or unmounted. */
  #device: number | undefined;
  #stopped = false;

  constructor(parts: AnchorParts) {
    this.#parts = parts;
    this.#exists = parts.exists;
  }

  /** The head will be in the file within a second, unless the volume is lost. */
  schedule(head: SignedHead): void {
    this.#due = head;
    this.#wake(delayMs);
  }

  /** The volume is lost: retried until it is back. */
  lose(why: string): void {
    this.#failures += 1;
    this.#parts.onLost(why);
    this.#wake(Math.min(maxRetryMs, delayMs * 2 ** (this.#failures - 1)));
  }

  /** Writes what is due now. Resolves when that is on disk or has failed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes what is due and ends retries. */
  async close(): Promise<void> {
    await this.flush();
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #wake(afterMs: number): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => void this.flush(), afterMs);
  }

  async #write(): Promise<void> {
    const head = this.#due;
    if (this.#stopped || (head === undefined && this.#failures === 0)) return;
    try {
      await this.#checkVolume();
      if (head !== undefined) await this.#replace(head);
      if (this.#due === head) this.#due = undefined;
      const wasLost = this.#failures > 0;
      this.#failures = 0;
      if (wasLost) this.#parts.onBack();
    } catch (error) {
      if (!(error instanceof Distrust)) return this.lose(messageOf(error));
      this.#stopped = true;
      this.#parts.onDistrust(error);
    }
  }

  /** A volume that comes back is compared with the log before it is written to. */
  async #checkVolume(): Promise<void> {
    const { path, compare } = this.#parts;
    await checkAnchorFolder(path);
    const device = (await stat(dirname(path))).dev;
    const isAnother = this.#device !== undefined && device !== this.#device;
    if (this.#failures > 0 || isAnother) {
      const anchor = await readAnchor(path);
      if (anchor.kind === 'missing' && this.#exists)
        throw new Error(`the anchor ${path} is gone from its folder: is the volume mounted?`);
      compare(anchor);
    }
    this.#device = device;
  }

  async #replace(head: SignedHead): Promise<void> {
    const { path, hooks } = this.#parts;
    await replaceFile(path, anchorText(head), {
      mode: 0o644,
      written: () => hooks.at('anchor-written'),
      renamed: () => hooks.at('anchor-renamed'),
    });
    this.#exists = true;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
