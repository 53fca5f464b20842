import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { table } from '../database/rows.ts';
import type { ScrubState } from './store-scrub.ts';

export interface StoredAnswer {
  readonly digest: string;
  readonly answer: IngestAnswer;
  /** Id of the receipt issued with the response. */
  readonly receipt?: string;
  /** Epoch milliseconds at which the response expires. */
  readonly expires: number;
}

export const answerTables = {
  /** hash of an Idempotency-Key → response */
  answers: table<StoredAnswer, string>('answers', { original: true }),
  /** [expires, hash] → true */
  answerTimes: table<true, [number, string]>('answer-times', { original: true }),
  /** progress of the scrub */
  scrubState: table<ScrubState, 'siem'>('scrub-state'),
};
