import { parseCheckpoint } from '../tlog/checkpoint.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { parseNote } from '../tlog/note.ts';
import type { Ledger, LogReader } from './ledger.ts';

export interface SignedCheckpointParts {
  readonly reader: Pick<LogReader, 'head'>;
  readonly ledger: Pick<Ledger, 'checkpoint'>;
}

/**
 * Time for which the note of an unchanged head is cached, in milliseconds. It is short, because the key of the note may
 * be revoked.
 */
const cacheMs = 1000;

/**
 * Provides the checkpoint of the published head, without cosignatures. Requests a note from the ledger's thread only
 * if the head is new or the cached note is older than a second, and one note at a time. Requests therefore hardly slow
 * appends.
 */
export class SignedCheckpoint {
  readonly #parts: SignedCheckpointParts;
  #cached = { note: '', root: '', at: 0 };
  #signing: Promise<unknown> = Promise.resolve();
  /** The note that will be signed after the current note. */
  #next: Promise<string> | undefined;

  constructor(parts: SignedCheckpointParts) {
    this.#parts = parts;
  }

  /** Throws the same errors as `Ledger.checkpoint`. */
  async get(): Promise<string> {
    const { root_hash } = await this.#parts.reader.head('published');
    const { note, root, at } = this.#cached;
    if (root_hash === root && performance.now() - at < cacheMs) return note;
    // The note being signed may belong to an earlier head.
    this.#next ??= this.#signing.then(() => {
      this.#next = undefined;
      const signed = this.#sign();
      this.#signing = signed.catch(() => undefined);
      return signed;
    });
    return this.#next;
  }

  async #sign(): Promise<string> {
    const at = performance.now();
    const note = await this.#parts.ledger.checkpoint();
    this.#cached = { note, root: bytesToHex(parseCheckpoint(parseNote(note).text).root), at };
    return note;
  }
}
