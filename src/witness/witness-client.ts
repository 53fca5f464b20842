import { type WitnessFailure, witnessFailures } from '../contract/witness-failures.ts';
import { limits } from '../limits.ts';
import { omitsFirstRoot } from '../tlog/proof.ts';
import type { Hash } from '../tlog/tree.ts';
import { requestCosignature, type WitnessResponse } from './ask.ts';
import type { Candidate } from './candidate.ts';
import type { PolicyWitness } from './policy.ts';

/** Dependencies of a witness client. */
export interface WitnessClientOptions {
  /** Returns the consistency proof from the first to the second size; 0 < first < second. */
  readonly consistency: (first: number, second: number) => Promise<readonly Hash[]>;
  /** Returns the root of the first `first` leaves in a tree of `second` leaves. `first` is a power of two, < second. */
  readonly firstRoot: (first: number, second: number) => Promise<Hash>;
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** Aborts requests in progress. */
  readonly signal: AbortSignal;
  readonly onFailure: (witness: PolicyWitness, failure: Failure, first: boolean) => void;
}

export interface Failure {
  readonly kind: WitnessFailure;
  /** Message for users. May contain text from the witness. */
  readonly message: string;
  /** The size that the witness claims; only with `ahead`. */
  readonly claimed?: number;
}

/**
 * The report of a witness that the log was rolled back, or contradicts what the witness cosigned. `since` is
 * in epoch milliseconds.
 */
export interface RollbackReport {
  readonly message: string;
  readonly since: number;
}

/**
 * Client of one witness: tracks its last known size, when it may be queried, and its failures. Sends one
 * request at a time, with exponential backoff after failures.
 */
export class WitnessClient {
  readonly witness: PolicyWitness;
  readonly #url: string;
  readonly #options: WitnessClientOptions;
  /** The size that the witness last cosigned, or claimed to have cosigned. */
  #size: number | undefined;
  #busy = false;
  #pauseMs = 0;
  #pausedUntil = 0;
  #failing: WitnessFailure | undefined;
  #rollback: RollbackReport | undefined;
  #cosignatures = 0;
  readonly #failures = new Map<WitnessFailure, number>();

  constructor(witness: PolicyWitness, url: string, options: WitnessClientOptions) {
    this.witness = witness;
    this.#url = url;
    this.#options = options;
  }

  /** Sets the size that the witness cosigned before a restart. */
  recall(size: number): void {
    this.#size ??= size;
  }

  get size(): number | undefined {
    return this.#size;
  }

  get cosignatures(): number {
    return this.#cosignatures;
  }

  /** The last failure; undefined if a request has succeeded since. */
  get failing(): WitnessFailure | undefined {
    return this.#failing;
  }

  /**
   * The witness's report of a rollback; undefined without one. Kept until the witness cosigns again, even while the
   * witness is unreachable.
   */
  get rollback(): RollbackReport | undefined {
    return this.#rollback;
  }

  get failures(): ReadonlyMap<WitnessFailure, number> {
    return this.#failures;
  }

  /** Returns whether to request a cosignature of this candidate now. */
  needs(candidate: Candidate): boolean {
    const now = this.#options.now();
    if (this.#busy) return false;
    const cosigned = candidate.by(this.witness);
    const ageMs = now - (cosigned?.timeS ?? 0) * 1000;
    // A cosignature from the future was made before the clock was set back, so its age is unknown.
    const isFresh = ageMs < limits.cosignatureAgeMs && ageMs >= -1000 * limits.maxWitnessSkewS;
    if (cosigned !== undefined && isFresh) return false;
    // A claim to have cosigned a larger size can be checked once the log has reached that size.
    const reachedClaim = this.#failing === 'ahead' && candidate.size >= (this.#size ?? 0);
    // If the remaining pause is longer than the whole pause, the clock was set back.
    return reachedClaim || now >= this.#pausedUntil || this.#pausedUntil - now > this.#pauseMs;
  }

  /** Requests a cosignature and adds it to the candidate. Returns true on success. Rejects if the ledger fails. */
  async requestCosignatureOf(candidate: Candidate): Promise<boolean> {
    this.#busy = true;
    try {
      const response = await this.#requestWithRetry(candidate);
      if (this.#options.signal.aborted) return false;
      if (response.kind === 'cosigned') return this.#succeed(candidate, response);
      this.#fail(failureOf(response, candidate));
      if (response.kind === 'failed' && response.failure === 'inconsistent') await this.#sendFirstRoot(candidate);
      return false;
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Retries once from the size that the witness reports. Further retries would let a witness keep the log
   * busy.
   */
  async #requestWithRetry(candidate: Candidate): Promise<WitnessResponse> {
    const sent = this.#oldSize(candidate);
    const response = await this.#requestFrom(sent, candidate);
    if (response.kind !== 'elsewhere') return response;
    this.#size = response.size;
    if (response.size === sent || response.size > candidate.size) return response;
    return this.#requestFrom(response.size, candidate);
  }

  /**
   * Sends the old root to the witness as evidence of a fork. A consistency proof from a power of two omits the old
   * root, so this request sends it as the first hash. Witnesses always reject such a proof, so the response is ignored.
   */
  async #sendFirstRoot(candidate: Candidate): Promise<void> {
    const oldSize = this.#oldSize(candidate);
    if (!omitsFirstRoot(oldSize) || oldSize === candidate.size) return;
    await this.#requestFrom(oldSize, candidate, [await this.#options.firstRoot(oldSize, candidate.size)]);
  }

  #oldSize(candidate: Candidate): number {
    return Math.min(this.#size ?? 0, candidate.size);
  }

  async #requestFrom(oldSize: number, candidate: Candidate, prefix: readonly Hash[] = []): Promise<WitnessResponse> {
    const { consistency, now, timeoutMs, signal } = this.#options;
    const proof = oldSize === 0 || oldSize === candidate.size ? [] : await consistency(oldSize, candidate.size);
    return requestCosignature({
      url: this.#url,
      key: this.witness.key,
      request: { oldSize, proof: [...prefix, ...proof], note: candidate.bare() },
      text: candidate.text,
      timeoutMs,
      signal,
      now,
    });
  }

  #succeed(candidate: Candidate, { cosigned }: Extract<WitnessResponse, { kind: 'cosigned' }>): true {
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
    const { now, onFailure } = this.#options;
    this.#failures.set(kind, (this.#failures.get(kind) ?? 0) + 1);
    // These failures do not resolve over time. Requests are retried at a long interval, in case the witness was wrong.
    const isRollback = kind === 'ahead' || kind === 'inconsistent';
    this.#pauseMs = isRollback
      ? limits.cosignatureAgeMs
      : Math.min(limits.maxWitnessPauseMs, Math.max(1000, 2 * this.#pauseMs));
    this.#pausedUntil = now() + this.#pauseMs;
    if (isRollback) this.#rollback = { message: failure.message, since: this.#rollback?.since ?? now() };
    const first = this.#failing !== kind;
    this.#failing = kind;
    onFailure(this.witness, failure, first || isRollback);
  }
}

function failureOf(response: Exclude<WitnessResponse, { kind: 'cosigned' }>, candidate: Candidate): Failure {
  if (response.kind === 'failed') {
    return { kind: response.failure, message: `${witnessFailures[response.failure]}: ${response.detail}` };
  }
  if (response.size > candidate.size) {
    const message = `${witnessFailures.ahead}: ${response.size} entries, the log has ${candidate.size}`;
    return { kind: 'ahead', message, claimed: response.size };
  }
  return { kind: 'refused', message: `${witnessFailures.refused}: it reports a different size each time` };
}
