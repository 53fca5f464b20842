import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { keyHash } from '../database/key-hash.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { StoredAnswer } from './idempotency-tables.ts';
import type { IngestBatch } from './store.ts';
import type { Tables } from './tables.ts';

type Idempotency = NonNullable<IngestBatch['idempotency']>;

/** Number of expired rows removed with each new row. It is greater than one, so that the table shrinks. */
const sweptAtOnce = 4;

/**
 * Responses by Idempotency-Key, stored for limits.idempotencyTtlMs of running time. All methods must be
 * called within a transaction. Time is measured from the newest response at start-up, so that a jump of the
 * host's clock neither drops responses early nor keeps them longer.
 */
export class IdempotencyStore {
  readonly #tables: Tables;
  readonly #steadyMs: () => number;
  readonly #origin: number;

  /**
   * Starts the clock of the responses at the time of the newest stored response.
   *
   * @param steadyMs - returns monotonic milliseconds
   */
  constructor(tables: Tables, nowMs: number, steadyMs: () => number) {
    this.#tables = tables;
    this.#steadyMs = steadyMs;
    const [newest] = tables.answerTimes.getKeys({ reverse: true, limit: 1 });
    const begun = newest === undefined ? nowMs : newest[0] - limits.idempotencyTtlMs;
    this.#origin = begun - steadyMs();
  }

  /**
   * Returns the first response to a key; undefined if the key is unknown. Throws CONFLICT if the key was used
   * for another request.
   */
  find({ key, digest }: Idempotency): StoredAnswer | undefined {
    const known = this.#tables.answers.get(keyHash(key));
    if (known === undefined || known.expires <= this.#now()) return undefined;
    if (known.digest === digest) return known;
    throw new ServiceError('CONFLICT', 'this Idempotency-Key was already used for another request', {
      field: 'Idempotency-Key',
      reason: 'was already used for another request',
    });
  }

  remember({ key, digest }: Idempotency, answer: IngestAnswer, receipt?: string): void {
    const nowMs = this.#now();
    this.#sweep(nowMs);
    const { answers, answerTimes } = this.#tables;
    const hash = keyHash(key);
    const replaced = answers.get(hash);
    if (replaced !== undefined) answerTimes.removeSync([replaced.expires, hash]);
    const expires = nowMs + limits.idempotencyTtlMs;
    answers.putSync(hash, { digest, answer, expires, ...(receipt === undefined ? {} : { receipt }) });
    answerTimes.putSync([expires, hash], true);
  }

  #now(): number {
    return this.#origin + this.#steadyMs();
  }

  #sweep(nowMs: number): void {
    const { answers, answerTimes } = this.#tables;
    const expired = [...answerTimes.getKeys({ limit: sweptAtOnce })].filter(([expires]) => expires <= nowMs);
    for (const key of expired) {
      answerTimes.removeSync(key);
      answers.removeSync(key[1]);
    }
  }
}
