import { type WitnessFailure, witnessFailures } from '../contract/witness-failures.ts';
import { limits } from '../limits.ts';
import { omitsFirstRoot } from '../tlog/proof.ts';
import type { Hash } from '../tlog/tree.ts';
import { type Asked, askWitness } from './ask.ts';
import type { Candidate } from './candidate.ts';
import type { PolicyWitness } from './policy.ts';

/** What a witness that is asked needs of its surroundings. */
export interface Surroundings {
  /** The proof that the tree of the second size extends that of the first; 0 < first < second. */
  readonly consistency: (first: number, second: number) => Promise<readonly Hash[]>;
  /** The root of the first leaves, a power of two, in the tree of the second size; 0 < first < second. */
  readonly firstRoot: (first: number, second: number) => Promise<Hash>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** Ends whatever is under way. */
  readonly signal: AbortSignal;
  readonly onFailure: (witness: PolicyWitness, failure: Failure, first: boolean) => void;
}

export interface Failure {
  readonly kind: WitnessFailure;
  /** For people. Holds text of the witness's. */
  readonly message: string;
  /** The size that the witness claims; only with `ahead`. */
  readonly claimed?: number;
}

/** A witness reported that the log went back, or contradicts what it cosigned. `since` is in epoch milliseconds. */
export interface RollbackReport {
  readonly message: string;
  readonly since: number;
}

/**
 * A witness as seen from the log: which size it is at as far as we know, whether it may be asked now, and how it
 * went. One request at a time; after a failure a pause that doubles, so that nothing it does costs more than that.
 */
export class AskedWitness {
  readonly witness: PolicyWitness;
  readonly #url: string;
  readonly #around: Surroundings;
  /** What it cosigned last, or said that it did. */
  #size: number | undefined;
  #busy = false;
  #pauseMs = 0;
  #pausedUntil = 0;
  #failing: WitnessFailure | undefined;
  #rollback: RollbackReport | undefined;
  #cosignatures = 0;
  readonly #failures = new Map<WitnessFailure, number>();

  constructor(witness: PolicyWitness, url: string, around: Surroundings) {
    this.witness = witness;
    this.#url = url;
    this.#around = around;
  }

  /** A size that it cosigned, known from before. */
  recall(size: number): void {
    this.#size ??= size;
  }

  get size(): number | undefined {
    return this.#size;
  }

  get cosignatures(): number {
    return this.#cosignatures;
  }

  /** The last failure, if nothing succeeded since. */
  get failing(): WitnessFailure | undefined {
    return this.#failing;
  }

  /** Stands until the witness cosigns again, even while it cannot be reached. */
  get rollback(): RollbackReport | undefined {
    return this.#rollback;
  }

  get failures(): ReadonlyMap<WitnessFailure, number> {
    return this.#failures;
  }

  /** Whether it is to be asked for this candidate now. */
  wants(candidate: Candidate): boolean {
    const now = this.#around.now();
    if (this.#busy) return false;
    const cosigned = candidate.by(this.witness);
    const ageMs = now - (cosigned?.timeS ?? 0) * 1000;
    // A cosignature from the future is from before the clock was set back, and its age is unknown.
    const isFresh = ageMs < limits.cosignatureAgeMs && ageMs >= -1000 * limits.maxWitnessSkewS;
    if (cosigned !== undefined && isFresh) return false;
    // What it claims to have cosigned beyond our size can be put to the test once we are there.
    const caughtUp = this.#failing === 'ahead' && candidate.size >= (this.#size ?? 0);
    // A pause that is longer than it was set to began before the clock was set back.
    return caughtUp || now >= this.#pausedUntil || this.#pausedUntil - now > this.#pauseMs;
  }

  /** Asks, and adds the cosignature to the candidate. True if there is one. Rejects where the log itself fails. */
  async ask(candidate: Candidate): Promise<boolean> {
    this.#busy = true;
    try {
      const asked = await this.#askTwice(candidate);
      if (this.#around.signal.aborted) return false;
      if (asked.kind === 'cosigned') return this.#succeed(candidate, asked);
      this.#fail(failureOf(asked, candidate));
      if (asked.kind === 'failed' && asked.failure === 'inconsistent') await this.#sendFirstRoot(candidate);
      return false;
    } finally {
      this.#busy = false;
    }
  }

  /** A witness that is elsewhere than we thought is asked again from there, once: more would be its game. */
  async #askTwice(candidate: Candidate): Promise<Asked> {
    const sent = this.#oldSize(candidate);
    const asked = await this.#askFrom(sent, candidate);
    if (asked.kind !== 'elsewhere') return asked;
    this.#size = asked.size;
    if (asked.size === sent || asked.size > candidate.size) return asked;
    return this.#askFrom(asked.size, candidate);
  }

  /**
   * From a power of two the witness can keep evidence only if it learns the root that this log has for the old size. A
   * witness accepts no proof with that root in front, so its second answer is of no interest.
   */
  async #sendFirstRoot(candidate: Candidate): Promise<void> {
    const oldSize = this.#oldSize(candidate);
    if (!omitsFirstRoot(oldSize) || oldSize === candidate.size) return;
    await this.#askFrom(oldSize, candidate, [await this.#around.firstRoot(oldSize, candidate.size)]);
  }

  #oldSize(candidate: Candidate): number {
    return Math.min(this.#size ?? 0, candidate.size);
  }

  async #askFrom(oldSize: number, candidate: Candidate, inFront: readonly Hash[] = []): Promise<Asked> {
    const { consistency, now, timeoutMs, signal } = this.#around;
    const proof =
      oldSize === 0 || oldSize === candidate.size ? [] : await consistency(oldSize, candidate.size);
    return askWitness({
      url: this.#url,
      key: this.witness.key,
      request: { oldSize, proof: [...inFront, ...proof], note: candidate.bare() },
      text: candidate.text,
      timeoutMs,
      signal,
      now,
    });
  }

  #succeed(candidate: Candidate, { cosigned }: Extract<Asked, { kind: 'cosigned' }>): true {
    candidate.add(this.witness, cosigned);
    this.#size = candidate.size;
    this.#cosignatures += 1;
    this.#failing = undefined;
    this.#rollback = undefined;
    this.#pauseMs = 0;
    this.#pausedUntil = 0;
    return true;
  }

  #fail(failure: Failure): void {
    const { kind } = failure;
    const { now, onFailure } = this.#around;
    this.#failures.set(kind, (this.#failures.get(kind) ?? 0) + 1);
    // Time doesn't heal these two. They are asked again rarely, in case the witness was wrong and was mended.
    const grave = kind === 'ahead' || kind === 'inconsistent';
    this.#pauseMs = grave
      ? limits.cosignatureAgeMs
      : Math.min(limits.maxWitnessPauseMs, Math.max(1000, 2 * this.#pauseMs));
    this.#pausedUntil = now() + this.#pauseMs;
    if (grave) this.#rollback = { message: failure.message, since: this.#rollback?.since ?? now() };
    const first = this.#failing !== kind;
    this.#failing = kind;
    onFailure(this.witness, failure, first || grave);
  }
}

function failureOf(asked: Exclude<Asked, { kind: 'cosigned' }>, candidate: Candidate): Failure {
  if (asked.kind === 'failed') {
    return { kind: asked.failure, message: `${witnessFailures[asked.failure]}: ${asked.detail}` };
  }
  if (asked.size > candidate.size) {
    const message = `${witnessFailures.ahead}: ${asked.size} entries, and we have ${candidate.size}`;
    return { kind: 'ahead', message, claimed: asked.size };
  }
  return { kind: 'refused', message: `${witnessFailures.refused}: it keeps asking for another old size` };
}
