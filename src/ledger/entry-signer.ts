import { bytesToSign, canonicalBytes, type EntryDraft } from './entry.ts';
import type { SigningKey } from './keys/signing-key.ts';
import type { StoredEntry } from './storage/storage.ts';

/** Maximum concurrent signatures: enough for every core, but few enough not to delay other users of libuv's threads. */
const concurrency = 64;
/**
 * Number of signed entries that justify a separate flush: this many entries are handed on even while more are being
 * signed.
 */
const worthCommit = 256;

/** A signature and the key that made it. */
interface Signed {
  readonly keyId: string;
  readonly signature: Uint8Array;
}

interface Call<T> {
  readonly drafts: readonly EntryDraft[];
  readonly signed: Signed[];
  missing: number;
  resolve(result: T | Promise<T>): void;
  reject(error: unknown): void;
}

export interface EntrySignerParts<T> {
  /** Returns the key that currently signs entries. */
  key(): SigningKey;
  /** Receives the entries of one call. Called in the order of the calls. */
  next(entries: readonly StoredEntry[]): Promise<T>;
}

/**
 * Signs entries outside the ledger's thread, because signing took a quarter of that thread's time. Hands the entries
 * on in order of arrival. Entries of one call stay together.
 *
 * If the key is replaced while an entry waits, the entry is signed again, so that a key never signs beyond its
 * `to_size`. Owns the calls that are not yet in the sequencer's queue.
 */
export class EntrySigner<T> {
  readonly #parts: EntrySignerParts<T>;
  readonly #calls: Call<T>[] = [];
  /** Entries in order of arrival: first entries whose signing has started (removed in bulk), then waiting entries. */
  readonly #unsigned: { readonly call: Call<T>; readonly at: number }[] = [];
  /** Number of entries at the front of `#unsigned` whose signing has started. */
  #started = 0;
  #entries = 0;
  /** Calls at the front of `#calls` whose entries are all signed, and the number of these entries. */
  #ready = { calls: 0, entries: 0 };
  #underWay = 0;
  #whenIdle: (() => void)[] = [];

  constructor(parts: EntrySignerParts<T>) {
    this.#parts = parts;
  }

  /** Number of entries that have not been handed on. */
  get entries(): number {
    return this.#entries;
  }

  sign(drafts: readonly EntryDraft[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call<T> = { drafts, signed: [], missing: drafts.length, resolve, reject };
      this.#calls.push(call);
      this.#entries += drafts.length;
      for (let at = 0; at < drafts.length; at++) this.#unsigned.push({ call, at });
      this.#startMore();
    });
  }

  /** Resolves when all entries have been handed on. */
  async idle(): Promise<void> {
    if (this.#entries > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #startMore(): void {
    while (this.#underWay < concurrency) {
      const next = this.#unsigned[this.#started];
      if (next === undefined) return;
      this.#started++;
      this.#underWay++;
      void this.#signOne(next.call, next.at);
      if (2 * this.#started >= this.#unsigned.length) this.#dropStarted();
    }
  }

  /**
   * Removes started entries in bulk: `shift` would move all remaining entries each time, and take seconds for a full
   * queue.
   */
  #dropStarted(): void {
    this.#unsigned.splice(0, this.#started);
    this.#started = 0;
  }

  async #signOne(call: Call<T>, at: number): Promise<void> {
    try {
      const key = this.#parts.key();
      const signature = await key.signLater(bytesToSign(call.drafts[at]!, key.kid));
      call.signed[at] = { keyId: key.kid, signature };
    } catch {
      // `#handOn` signs again and fails the call if the second attempt fails too. Rejecting here could report appended
      // entries as failed.
    }
    call.missing--;
    this.#underWay--;
    this.#startMore();
    this.#countReady();
    const { entries } = this.#ready;
    if (entries > 0 && (entries >= worthCommit || 2 * entries >= this.#entries)) this.#handOn();
  }

  #countReady(): void {
    for (let next = this.#calls[this.#ready.calls]; next?.missing === 0; ) {
      this.#ready.calls++;
      this.#ready.entries += next.drafts.length;
      next = this.#calls[this.#ready.calls];
    }
  }

  #handOn(): void {
    const { calls, entries } = this.#ready;
    this.#ready = { calls: 0, entries: 0 };
    this.#entries -= entries;
    for (const call of this.#calls.splice(0, calls)) {
      try {
        call.resolve(this.#parts.next(this.#stored(call)));
      } catch (error) {
        call.reject(error);
      }
    }
    if (this.#entries === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #stored({ drafts, signed }: Call<T>): StoredEntry[] {
    const key = this.#parts.key();
    return drafts.map((draft, at) => {
      const { id, kind } = draft;
      const made = signed[at];
      const signature = made?.keyId === key.kid ? made.signature : key.sign(bytesToSign(draft, key.kid));
      return { id, kind, canonical: canonicalBytes(draft, key.kid, signature) };
    });
  }
}
