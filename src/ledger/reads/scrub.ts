import { readFileSync } from 'node:fs';
import { replaceFile } from '../../files/durable-file.ts';
import { pageColumns } from '../../tlog/page.ts';
import { equalHashes } from '../../tlog/tree.ts';
import type { ReadReport } from '../ledger.ts';
import { DamagedError, EdgeDamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';
import { indexedOf, verifiedEntry } from './prover.ts';
import type { TileDigests } from './tile-digests.ts';
import { badSignature } from './verified-heads.ts';
import { VerifiedNodes } from './verified-nodes.ts';

interface ScrubParts {
  readonly storage: LedgerStorage;
  /** Returns the head of the current snapshot; undefined for an empty log. */
  latest(): SignedHead | undefined;
  /** Receives each full tile of level 0 whose entries are intact. */
  readonly digests: TileDigests;
  isSigned(head: SignedHead): boolean;
  /** Switches to the newest snapshot. All reads of a step use the same snapshot. */
  refresh(): Promise<void>;
  /** File that stores the progress across restarts. */
  readonly file: string;
  onChecked(entries: number): void;
}

const hourMs = 3_600_000;
/** Duration of a pass, regardless of the size of the log: half of the promised maximum of one day. */
const passMs = 12 * hourMs;
/** Minimum time between passes: a small log is checked once an hour. */
const minPassMs = hourMs;
/** Maximum pause between two steps of a pass. */
const maxPauseMs = 1000;
/** Heads verified in one step of 6 ms: a pass over more than 300 million heads takes longer than `passMs`. */
const headsPerStep = 64;
const saveEveryMs = 60_000;

/**
 * Returns the pause before the next step, in milliseconds: an equal share of the time left in the pass, minus the
 * duration of a step. The pause is at most `maxPauseMs`, as in a small log, and 0 if the pass is late.
 */
export function pauseBefore(
  left: { readonly entries: number; readonly heads: number },
  leftMs: number,
  stepMs: number,
): number {
  const steps = 1 + left.entries / pageColumns + left.heads / headsPerStep;
  return Math.min(maxPauseMs, Math.max(0, leftMs / steps - stepMs));
}

/**
 * Checks the whole log in the background, from disk: each entry against its leaf, each node up to the root of
 * the signed head, the indexes of ids and of kinds, and the signature of each head. A step checks 256 entries
 * (1 ms) or 64 heads. Steps are spread over the pass: see `pauseBefore`.
 */
export class Scrub {
  readonly #parts: ScrubParts;
  readonly #nodes: VerifiedNodes;
  #state: ScrubState;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Duration of the last step. */
  #stepMs = 0;
  #savedAt = 0;
  #saving: Promise<void> | undefined;
  /** Whether the state changed while it was being saved. */
  #isStale = false;

  constructor(parts: ScrubParts) {
    this.#parts = parts;
    this.#nodes = new VerifiedNodes(parts.storage, parts.latest, parts.digests);
    this.#state = readScrubState(parts.file) ?? newPass(0);
  }

  start(): void {
    this.#timer = setTimeout(() => {
      void this.step().then(() => {
        if (!this.#isStopped) this.start();
      });
    }, this.#pause()).unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#save();
    while (this.#saving !== undefined) await this.#saving;
  }

  /** Records damage found by the scrub or by a read. */
  found(message: string, isEdge: boolean): void {
    this.#state.damage = { at: Date.now(), message, is_edge: isEdge };
    this.#save();
  }

  report(): ReadReport {
    const { damage, lastCleanPassBeganAt, lastPass, passBeganAt, entries, total } = this.#state;
    return {
      ...(damage === undefined ? {} : { damage }),
      ...(lastCleanPassBeganAt === undefined ? {} : { clean_pass_began_at: lastCleanPassBeganAt }),
      scrub: {
        pass_began_at: new Date(passBeganAt).toISOString(),
        checked: entries,
        total,
        ...(lastPass === undefined
          ? {}
          : { last_pass_at: new Date(lastPass.endedAt).toISOString(), last_pass_damaged: lastPass.damaged }),
      },
    };
  }

  /**
   * Checks the next part of the log. The step after the last part ends the pass; the following step begins
   * the next pass.
   */
  async step(): Promise<void> {
    const state = this.#state;
    const startedAt = performance.now();
    try {
      await this.#parts.refresh();
    } catch (error) {
      this.#damaged(error);
    }
    if (this.#isStopped) return;
    if (state.passEndedAt !== undefined || state.passBeganAt === 0) this.#begin();
    else if (state.entries < state.total) this.#checkEntries();
    else if (!this.#checkHeads()) this.#end();
    if (Date.now() - this.#savedAt > saveEveryMs) this.#save();
    this.#stepMs = performance.now() - startedAt;
  }

  #pause(): number {
    const { passBeganAt, passEndedAt, total, entries, heads } = this.#state;
    if (passEndedAt !== undefined) return Math.max(0, passBeganAt + minPassMs - Date.now());
    // A commit signs one head for at least one entry, so there are hardly more heads than entries.
    const left = { entries: total - entries, heads: Math.max(0, total - heads) };
    return pauseBefore(left, passBeganAt + passMs - Date.now(), this.#stepMs);
  }

  #begin(): void {
    this.#nodes.forget();
    const { lastPass, lastCleanPassBeganAt, damage } = this.#state;
    const total = this.#parts.latest()?.size ?? 0;
    this.#state = { ...newPass(Date.now()), lastPass, lastCleanPassBeganAt, damage, total };
  }

  #end(): void {
    const state = this.#state;
    const { damaged, passBeganAt, damage } = state;
    state.passEndedAt = Date.now();
    state.lastPass = { endedAt: state.passEndedAt, damaged };
    if (damaged === 0) {
      state.lastCleanPassBeganAt = passBeganAt;
      if (damage !== undefined && damage.at < passBeganAt) state.damage = undefined;
    }
    this.#save();
  }

  #checkEntries(): void {
    const { entries: from, total } = this.#state;
    const to = Math.min(total, from + pageColumns);
    const kinds = new Map<number, string>();
    for (let index = from; index < to; index++) this.#collectDamage(() => this.#checkEntry(index, kinds));
    this.#collectDamage(() => this.#checkKinds(from, to, kinds));
    if (to - from === pageColumns)
      this.#collectDamage(() => this.#nodes.rowOf({ level: 0, index: from / pageColumns }, pageColumns));
    this.#state.entries = to;
    this.#parts.onChecked(to - from);
  }

  /** Checks an entry and adds its kind to `kinds`. */
  #checkEntry(index: number, kinds: Map<number, string>): void {
    const { storage } = this.#parts;
    const { id, kind } = indexedOf(verifiedEntry(storage, this.#nodes, index));
    if (kind !== undefined) kinds.set(index, kind);
    const named = id === undefined ? index : storage.indexOf(id);
    // The index names the first of two entries with the same id. Auditors report the second entry; it is not damage.
    if (
      named === index ||
      (named !== undefined && named < index && indexedOf(verifiedEntry(storage, this.#nodes, named)).id === id)
    )
      return;
    throw new DamagedError(`the index of ids does not map ${id} to entry ${index}`);
  }

  /**
   * Checks only that each entry is indexed: storage compares the number of indexed entries with the number of entries,
   * so the index has no other entries.
   */
  #checkKinds(from: number, to: number, entries: ReadonlyMap<number, string>): void {
    const { kinds } = this.#parts.storage;
    for (const [kind, ofKind] of Map.groupBy(entries, ([, kind]) => kind)) {
      const named = new Set(kinds.range(kind, kinds.countBelow(kind, from), kinds.countBelow(kind, to)));
      const missing = ofKind.find(([index]) => !named.has(index));
      if (missing !== undefined)
        throw new DamagedError(`the index of kinds does not name entry ${missing[0]} for ${kind}`);
    }
  }

  /** Returns false if all current heads have been checked. */
  #checkHeads(): boolean {
    const { storage } = this.#parts;
    let heads: readonly SignedHead[] = [];
    this.#collectDamage(() => {
      heads = storage.history.from(this.#state.heads, headsPerStep);
    });
    for (const head of heads)
      this.#collectDamage(() => {
        if (!this.#parts.isSigned(head)) throw new DamagedError(badSignature(head));
        if (head.size > 0 && !equalHashes(this.#nodes.rootAt(head.size), head.root))
          throw new DamagedError(`the root of the head of ${head.size} leaves differs from the tree`);
      });
    this.#state.heads += heads.length;
    return heads.length > 0;
  }

  #collectDamage(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#damaged(error);
    }
  }

  #damaged(error: unknown): void {
    if (!(error instanceof DamagedError)) throw error;
    this.#state.damaged++;
    this.found(error.message, error instanceof EdgeDamagedError);
  }

  /** Saves the progress. If saving fails, a restart continues from the progress that was saved before. */
  #save(): void {
    this.#savedAt = Date.now();
    this.#isStale = this.#saving !== undefined;
    if (this.#isStale) return;
    const text = JSON.stringify(this.#state);
    this.#saving = replaceFile(this.#parts.file, text, { mode: 0o600 })
      .catch(() => undefined)
      .then(() => {
        this.#saving = undefined;
        if (this.#isStale) this.#save();
      });
  }
}

/** Progress of the scrub, which is stored across restarts. Times are Unix milliseconds. */
interface ScrubState {
  passBeganAt: number;
  /** End of the pass; undefined while the pass is in progress. */
  passEndedAt: number | undefined;
  /** Entries that this pass checks: the size of the log at its start. */
  total: number;
  /** Entries checked so far. */
  entries: number;
  /** Heads checked so far. */
  heads: number;
  /** Damaged entries, pages and heads found by this pass. */
  damaged: number;
  lastPass?: { readonly endedAt: number; readonly damaged: number } | undefined;
  lastCleanPassBeganAt?: number | undefined;
  /** Most recent damage found by the scrub or by a read. */
  damage?: ReadReport['damage'] | undefined;
}

function newPass(nowMs: number): ScrubState {
  return { passBeganAt: nowMs, passEndedAt: undefined, total: 0, entries: 0, heads: 0, damaged: 0 };
}

/** Reads the progress. Returns undefined if the file is missing or invalid: only the progress of a pass is lost. */
function readScrubState(file: string): ScrubState | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as ScrubState;
    const { passBeganAt, total, entries, heads, damaged, damage } = found;
    const areCounts = [passBeganAt, total, entries, heads, damaged].every((n) => Number.isSafeInteger(n) && n >= 0);
    const isDamage = damage === undefined || (Number.isSafeInteger(damage.at) && typeof damage.message === 'string');
    return areCounts && isDamage ? found : undefined;
  } catch {
    return undefined;
  }
}
