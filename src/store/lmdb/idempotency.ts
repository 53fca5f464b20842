import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { IngestBatch } from '../store.ts';
import { keyHash } from './key-hash.ts';
import type { RememberedAnswer, Tables } from './tables.ts';

type Idempotency = NonNullable<IngestBatch['idempotency']>;

/** Expired answers removed with each new one: more than are added, so that none pile up. */
const sweptAtOnce = 4;

/** Answers to Idempotency-Keys, kept for limits.idempotencyTtlMs. All methods run within a transaction. */
export class RememberedAnswers {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** The first answer to this key, if it is known. CONFLICT when the key came with another request. */
  find({ key, digest }: Idempotency, nowMs: number): RememberedAnswer | undefined {
    const known = this.#tables.answers.get(keyHash(key));
    if (known === undefined || known.expires <= nowMs) return undefined;
    if (known.digest === digest) return known;
    throw new ServiceError('CONFLICT', 'this Idempotency-Key came before with another request', {
      field: 'Idempotency-Key',
      reason: 'came before with another request',
    });
  }

  remember({ key, digest }: Idempotency, answer: IngestAnswer, nowMs: number, receipt?: string): void {
    this.sweep(nowMs);
    const { answers, answerTimes } = this.#tables;
    const hash = keyHash(key);
    const replaced = answers.get(hash);
    if (replaced !== undefined) answerTimes.removeSync([replaced.expires, hash]);
    const expires = nowMs + limits.idempotencyTtlMs;
    answers.putSync(hash, { digest, answer, expires, ...(receipt === undefined ? {} : { receipt }) });
    answerTimes.putSync([expires, hash], true);
  }

  sweep(nowMs: number): void {
    const { answers, answerTimes } = this.#tables;
    const expired = [...answerTimes.getKeys({ limit: sweptAtOnce })].filter(([expires]) => expires <= nowMs);
    for (const key of expired) {
      answerTimes.removeSync(key);
      answers.removeSync(key[1]);
    }
  }
}
