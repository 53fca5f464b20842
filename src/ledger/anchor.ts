import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { replaceFile } from '../files/durable-file.ts';
import { readTextFile, type UnreadableFile } from '../files/read-file.ts';
import { SerialQueue } from '../files/serial-queue.ts';
import { VolumeQueue } from '../files/volume-queue.ts';
import { UntrustedLogError } from './distrust.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHooks } from './hooks.ts';
import type { SignedHead } from './storage/storage.ts';

/**
 * Delay before a write, in milliseconds. A head must be on disk within a second, so 500 ms are left for the write
 * itself.
 */
const delayMs = 500;
/** Maximum bytes of a readable anchor file. A file with one head has about 350 bytes. */
const maxAnchorBytes = 65_536;
/** Maximum wait between two attempts to write to a lost volume, in milliseconds. */
const maxRetryMs = 30_000;

/**
 * Content of the anchor file. `unreadable`: the file exists but does not contain a head. An interrupted write cannot
 * cause this.
 */
export type AnchorState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'head'; readonly head: SignedHead };

/** An anchor state, or the reason why the anchor's volume cannot be read or written. */
export type ObservedAnchor = AnchorState | { readonly kind: 'unavailable'; readonly why: string };

/** Reads the anchor file. @throws Error with a one-line message if the file exists but cannot be read */
export async function readAnchor(path: string): Promise<AnchorState> {
  let text: string;
  try {
    text = await readTextFile(path, maxAnchorBytes);
  } catch (error) {
    const { problem, code, message } = error as UnreadableFile;
    if (code === 'ENOENT') return { kind: 'missing' };
    if (problem !== 'unreadable') return { kind: 'unreadable', why: message };
    throw new Error(`the anchor ${path} cannot be read (${code ?? message})`);
  }
  try {
    return { kind: 'head', head: fromJson(JSON.parse(text)) };
  } catch {
    return { kind: 'unreadable', why: text === '' ? 'it is empty' : 'it is not a tree head' };
  }
}

/** Reads the anchor and checks that its folder can be written to. A volume that does not respond is unavailable. */
export async function observeAnchor(path: string, volume = volumeOf(path)): Promise<ObservedAnchor> {
  try {
    return await volume.run(async () => {
      await checkAnchorFolder(path);
      return readAnchor(path);
    });
  } catch (error) {
    return { kind: 'unavailable', why: messageOf(error) };
  }
}

/** Checks that the anchor's folder can be written to. @throws Error with a one-line message */
export async function checkAnchorFolder(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the folder of the anchor ${path} is missing or cannot be written to (${code})`);
  }
}

/** Returns the anchor's content for a head. */
export function anchorText(head: SignedHead): string {
  return `${writeTreeHead(toJson(head))}\n`;
}

export interface AnchorParts {
  readonly path: string;
  /**
   * Runs each write with a deadline, because the volume may stop responding. Default: a queue with the default
   * deadline.
   */
  readonly volume?: VolumeQueue;
  /** Whether the file existed at start-up. */
  readonly exists: boolean;
  readonly hooks: LedgerHooks;
  /** Compares the file with the log once the volume is back. @throws UntrustedLogError if the log must not continue */
  compare(anchor: AnchorState): void;
  /** Called for each failed attempt. Until `onBack` is called, a rollback could go unnoticed. */
  onLost(why: string): void;
  /** Called when the latest head is on disk again. */
  onBack(): void;
  /** Called when `compare` failed. The anchor is then no longer written. */
  onDistrust(reason: UntrustedLogError): void;
}

/**
 * Writes the latest head to a small file outside the database, so that a rolled-back database is detected. Writes do
 * not delay appends; a head that arrives during a write is written by the next write. While the volume is lost, or does
 * not respond, writing is retried with back-off.
 */
export class Anchor {
  readonly #parts: AnchorParts;
  readonly #volume: VolumeQueue;
  #due: SignedHead | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #queue = new SerialQueue();
  /** Consecutive failed attempts. */
  #failures = 0;
  #exists: boolean;
  /**
   * Device of the folder at the last write. A different device means that a volume was mounted or unmounted.
   */
  #device: number | undefined;
  #stopped = false;

  constructor(parts: AnchorParts) {
    this.#parts = parts;
    this.#volume = parts.volume ?? volumeOf(parts.path);
    this.#exists = parts.exists;
  }

  /** Schedules a write of the head within a second, unless the volume is lost. */
  schedule(head: SignedHead): void {
    this.#due = head;
    this.#wake(delayMs);
  }

  /** Reports that the volume is lost and starts retrying. */
  lose(why: string): void {
    this.#failures += 1;
    this.#parts.onLost(why);
    this.#wake(Math.min(maxRetryMs, delayMs * 2 ** (this.#failures - 1)));
  }

  /** Writes the pending head now. Resolves when it is on disk or the write has failed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#queue.run(() => this.#write());
  }

  /** Writes the pending head and stops retrying. */
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
      await this.#volume.run(async () => {
        await this.#checkVolume();
        if (head !== undefined) await this.#replace(head);
      });
      if (this.#due === head) this.#due = undefined;
      const wasLost = this.#failures > 0;
      this.#failures = 0;
      if (wasLost) this.#parts.onBack();
    } catch (error) {
      if (!(error instanceof UntrustedLogError)) return this.lose(messageOf(error));
      this.#stopped = true;
      this.#parts.onDistrust(error);
    }
  }

  /** Compares the anchor with the log if the volume was lost or replaced, before anything is written to the volume. */
  async #checkVolume(): Promise<void> {
    const { path, compare } = this.#parts;
    await checkAnchorFolder(path);
    const device = (await stat(dirname(path))).dev;
    const isAnother = this.#device !== undefined && device !== this.#device;
    if (this.#failures > 0 || isAnother) {
      const anchor = await readAnchor(path);
      if (anchor.kind === 'missing' && this.#exists)
        throw new Error(`the anchor ${path} is missing from its folder; check that the volume is mounted`);
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

function volumeOf(path: string): VolumeQueue {
  return new VolumeQueue(`the volume of the anchor ${path}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
