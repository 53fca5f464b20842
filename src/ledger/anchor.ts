import { readFile } from 'node:fs/promises';
import { writeTreeHead } from '../contract/write-tree-head.ts';
import { replaceFile } from '../durable-file.ts';
import { fromJson, toJson } from './heads.ts';
import type { LedgerHooks } from './hooks.ts';
import type { SignedHead } from './storage/storage.ts';

/** At most a second behind: half of it waiting, half of it for the disk. */
const delayMs = 500;

/** What the anchor file says. `unreadable`: it is there and is no head, which an interrupted write can't leave. */
export type AnchorState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'head'; readonly head: SignedHead };

/** @throws Error with one clear line where the file is there but may not be read. */
export async function readAnchor(path: string): Promise<AnchorState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    if (code === 'EISDIR') return { kind: 'unreadable', why: 'it is a folder' };
    throw new Error(`the anchor ${path} cannot be read (${code ?? String(error)})`);
  }
  try {
    return { kind: 'head', head: fromJson(JSON.parse(text)) };
  } catch {
    return { kind: 'unreadable', why: text === '' ? 'it is empty' : 'it is no tree head' };
  }
}

/** The anchor's content for a head. */
export function anchorText(head: SignedHead): string {
  return `${writeTreeHead(toJson(head))}\n`;
}

/**
 * The latest head in a small file outside the database, so that a database that went back in time is recognised.
 * Written off the path of appends; a head that comes while a write is under way or due is the next one's.
 */
export class Anchor {
  readonly #path: string;
  readonly #hooks: LedgerHooks;
  /** Called when a write fails: from then on a rollback could go unnoticed, so the ledger must stop. */
  readonly #onFailure: (error: unknown) => void;
  #due: SignedHead | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, hooks: LedgerHooks, onFailure: (error: unknown) => void) {
    this.#path = path;
    this.#hooks = hooks;
    this.#onFailure = onFailure;
  }

  /** The head will be in the file within a second. */
  schedule(head: SignedHead): void {
    this.#due = head;
    this.#timer ??= setTimeout(() => void this.flush(), delayMs);
  }

  /** Writes what is due now. Resolves when it is on disk. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const head = this.#due;
    if (head === undefined) return;
    this.#due = undefined;
    try {
      await replaceFile(this.#path, anchorText(head), {
        mode: 0o644,
        written: () => this.#hooks.at('anchor-written'),
        renamed: () => this.#hooks.at('anchor-renamed'),
      });
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
