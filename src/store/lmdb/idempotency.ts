import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { IngestBatch } from '../store.ts';
import { keyHash } from './key-hash.ts';
import type { RememberedAnswer, Tables } from './tables.ts';

type Idempotency = NonNullable<IngestBatch['idempotency']>;

/** Expired answers removed with each new one: more than are added, so that none pile up. */
const sweptAtOnce = 4;

/**
 * Answers to Idempotency-Keys, kept for limits.idempotencyTtlMs while the service runs. All methods run within a
 * transaction. Times count from that of the newest answer at the start, so that no leap of the host's clock makes a
 * repeated request a new one, or keeps an answer for longer.
 */
export class RememberedAnswers {
  readonly #tables: Tables;
  readonly #steadyMs: () => number;
  readonly #origin: number;

  /** @param steadyMs - milliseconds since some moment, which never leap */
  constructor(tables: Tables, nowMs: number, steadyMs: () => number) {
    this.#tables = tables;
    this.#steadyMs = steadyMs;
    const [newest] = tables.answerTimes.getKeys({ reverse: true, limit: 1 });
    const begun = newest === undefined ? nowMs : newest[0] - limits.idempotencyTtlMs;
    this.#origin = begun - steadyMs();
  }

  /** The first answer to this key, if it is known. CONFLICT when the key came with another request. */
  find({ key, digest }: Idempotency): RememberedAnswer | undefined {
    const known = this.#tables.answers.get(keyHash(key));
    if (known === undefined || known.expires <= this.#now()) return undefined;
    if (known.digest === digest) return known;
    throw new ServiceError('CONFLICT', 'this Idempotency-Key came before with another request', {
      field: 'Idempotency-Key',
      reason: 'came before with another request',
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
