import type { PublicationSchedule } from '../publication.ts';
import { lowerBound } from '../storage/lower-bound.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';
import type { HeadView } from './head-view.ts';

/** Number of heads read in one step of the search for published heads. */
const scanSize = 65_536;

/**
 * The heads published so far: the heads of the schedule and, after the same delay, the heads by which a tree-head key
 * vouches for its successor. Caches which heads are published; a head that was visible stays visible if the clock goes
 * back.
 */
export class PublishedHeads implements HeadView {
  readonly #storage: LedgerStorage;
  readonly #schedule: PublicationSchedule;
  readonly #nowNs: () => bigint;
  /** Number of heads at the start of the history that are all published. */
  #leading = 0;
  /** Numbers of the published heads after the leading heads, 8 bytes each. */
  readonly #later: number[] = [];
  #scanned = 0;
  /**
   * Numbers of the heads that vouch for a new key. Each such head is signed by the old key, and is the first to cover
   * the `key.rotated` entry of the new key.
   */
  readonly #vouching = new Set<number>();
  /** Number of `key.rotated` entries that were read. */
  #rotations = 0;
  #visible = 0;

  constructor(storage: LedgerStorage, schedule: PublicationSchedule, nowNs: () => bigint) {
    this.#storage = storage;
    this.#schedule = schedule;
    this.#nowNs = nowNs;
  }

  get history(): HeadView['history'] {
    const { history } = this.#storage;
    this.#scan();
    return {
      count: this.#visible,
      size: (n) => history.size(this.#ordinal(n)),
      from: (n, limit) =>
        Array.from(
          { length: Math.max(0, Math.min(limit, this.#visible - n)) },
          (_, i) => history.from(this.#ordinal(n + i), 1)[0]!,
        ),
    };
  }

  latest(): SignedHead | undefined {
    const { history } = this;
    return history.from(history.count - 1, Math.min(1, history.count))[0];
  }

  headOf(size: number): SignedHead | undefined {
    const { history } = this;
    const after = lowerBound(history.count, (n) => history.size(n), size + 1);
    const head = after === 0 ? undefined : history.from(after - 1, 1)[0];
    return head?.size === size ? head : undefined;
  }

  #ordinal(n: number): number {
    return n < this.#leading ? n : this.#later[n - this.#leading]!;
  }

  /** Finds heads that were signed or became visible since the last call. */
  #scan(): void {
    const { history } = this.#storage;
    if (this.#scanned < history.count) this.#findVouching();
    while (this.#scanned < history.count) {
      for (const timestampNs of history.timestamps(this.#scanned, scanSize)) {
        if (this.#schedule.isPublished(timestampNs) || this.#vouching.has(this.#scanned)) {
          if (this.#leading === this.#scanned) this.#leading++;
          else this.#later.push(this.#scanned);
        }
        this.#scanned++;
      }
    }
    const now = this.#nowNs();
    for (let n = this.#leading + this.#later.length - 1; n >= this.#visible; n--) {
      const timestampNs = history.timestamps(this.#ordinal(n), 1)[0]!;
      if (this.#schedule.visibleFrom(timestampNs) > now) continue;
      this.#visible = n + 1;
      return;
    }
  }

  #findVouching(): void {
    const { history, kinds } = this.#storage;
    for (const leaf of kinds.range('key.rotated', this.#rotations, kinds.count('key.rotated'))) {
      this.#rotations++;
      const canonical = this.#storage.canonical(leaf);
      if (canonical && Buffer.from(canonical).includes('"purpose":"transparency-sth"'))
        this.#vouching.add(lowerBound(history.count, (n) => history.size(n), leaf + 1));
    }
  }
}
