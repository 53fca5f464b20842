import { bytesToSign, canonicalBytes, type EntryDraft } from './entry.ts';
import type { SigningKey } from './keys/signing-key.ts';
import type { StoredEntry } from './storage/storage.ts';

/** Signatures under way at once: enough for every core, few enough that others who use libuv's threads don't wait. */
const concurrency = 64;
/** Signed entries that go on although as many more are under way: a commit of so many is worth its flush. */
const worthCommit = 256;

/** Signed by which key. */
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
  /** The key that signs entries now. */
  key(): SigningKey;
  /** Takes the entries of one call, in the order of the calls. */
  next(entries: readonly StoredEntry[]): Promise<T>;
}

/**
 * Signs entries beside the ledger's thread, of which signing was a quarter, and hands them on in the order in which
 * they came. Those of one call stay together.
 *
 * An entry whose key was replaced while it waited is signed anew, so that a key never signs behind its `to_size`.
 * Owner of the calls that came and have no place in the sequencer's queue yet.
 */
export class EntrySigner<T> {
  readonly #parts: EntrySignerParts<T>;
  readonly #calls: Call<T>[] = [];
  /** Entries in the order in which they came, from the first that may not be begun. */
  readonly #unsigned: { readonly call: Call<T>; readonly at: number }[] = [];
  /** How many of these are begun. */
  #begun = 0;
  #entries = 0;
  /** Calls at the front that are signed whole, and their entries. */
  #ready = { calls: 0, entries: 0 };
  #underWay = 0;
  #whenIdle: (() => void)[] = [];

  constructor(parts: EntrySignerParts<T>) {
    this.#parts = parts;
  }

  /** Entries that have not been handed on. */
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

  /** Resolves when everything that came has been handed on. */
  async idle(): Promise<void> {
    if (this.#entries > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #startMore(): void {
    while (this.#underWay < concurrency) {
      const next = this.#unsigned[this.#begun];
      if (next === undefined) return;
      this.#begun++;
      this.#underWay++;
      void this.#signOne(next.call, next.at);
      if (2 * this.#begun >= this.#unsigned.length) this.#dropBegun();
    }
  }

  /** Many at a time: `shift` moves all the rest for each, seconds of the thread for a full queue. */
  #dropBegun(): void {
    this.#unsigned.splice(0, this.#begun);
    this.#begun = 0;
  }

  async #signOne(call: Call<T>, at: number): Promise<void> {
    try {
      const key = this.#parts.key();
      const signature = await key.signLater(bytesToSign(call.drafts[at]!, key.kid));
      call.signed[at] = { keyId: key.kid, signature };
    } catch {
      // Signed when it is handed on, which fails the call if that fails too: told here, it might be appended all the same.
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
