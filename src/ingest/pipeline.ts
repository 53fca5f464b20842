import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import { ServiceError } from '../errors.ts';
import { mergeHeaders, type TsvHeader } from '../events/tsv-headers.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Committed, CommittedBlock, PartialBlock, ReceiptDraft, Store } from '../store/store.ts';
import { goesTogether, type ParsedGroup, type ParsedGroups } from './parse-bodies.ts';
import type { IngestInput, ReadBody } from './parse-body.ts';

/** Options of a request in addition to storing its body. A body with options forms a separate group. */
export interface BodyOptions {
  /** Idempotency key, which makes a retry safe. */
  readonly key?: string | undefined;
  readonly receipt?: Omit<ReceiptDraft, 'sha256'> | undefined;
}

/** A parsed body, whose group is being stored. */
export interface ParsedShare {
  readonly body: ReadBody;
  /** Rejects with the error of the commit, in which case nothing of the group is stored. */
  readonly stored: Promise<StoredShare>;
}

/** The share of a body in the commit of its group. */
export interface StoredShare {
  readonly answer: IngestAnswer;
  /** True if the result is the result of an earlier body with the same key, and nothing was stored. */
  readonly replayed: boolean;
  /** The stored blocks of the group. Their buffers are read-only. */
  readonly blocks: readonly CommittedBlock[];
  /** Rows of the parsed blocks that were not stored because their explicit ids already exist. */
  readonly refused: readonly PartialBlock[];
  /** The receipt, if one was requested. */
  readonly receipt?: ReceiptStatement;
}

export interface IngestPipelineOptions {
  /** Number of parsing threads. */
  readonly threads: number;
  /** Parses bodies in a thread. The bodies are transferred. */
  readonly parse: (inputs: readonly IngestInput[]) => Promise<ParsedGroups>;
  readonly store: Pick<Store, 'commit'>;
  /** Receives statistics of the rules for each group. */
  readonly rules: {
    wereSlow(rules: ParsedGroup['slow']): void;
    count(hits: ParsedGroup['hits'], fired?: readonly string[]): void;
  };
  readonly limitReached: (limit: LimitName) => void;
  /**
   * Called with the stored blocks of each commit, in order, after `stored` was resolved for the bodies of the commit.
   * The caller keeps the buffers. Must not throw.
   */
  readonly onStored: (blocks: readonly CommittedBlock[]) => void;
}

interface Waiting {
  readonly input: IngestInput;
  readonly options: BodyOptions;
  readonly resolve: (share: ParsedShare) => void;
  readonly reject: (error: unknown) => void;
}

/** Time for which each body is stored separately after the refusal of a group, in milliseconds. */
const aloneMs = 10_000;

/**
 * Parses and stores bodies:
 *
 * ```
 *   add ──► queue ──► parsing thread ──► group: one commit ──► share of each body
 *             │ full                        │ refused
 *             ▼                             ▼
 *          OVERLOADED                 the bodies of the group are refused; later ones are stored separately
 * ```
 * If a thread is free, it gets a new body immediately and alone. While all threads are busy, small bodies accumulate,
 * and the next free thread takes as many as can be parsed and stored together. The more bodies a task has, the less
 * each of them costs, so a flood of small bodies does not queue up.
 */
export class IngestPipeline {
  readonly #options: IngestPipelineOptions;
  #waiting: Waiting[] = [];
  #running = 0;
  /**
   * Time of the last refusal of a group. A single body may have caused the refusal (with an alert that must be
   * logged, while the outbox is full). Therefore, each body is stored separately for `aloneMs`, so that retries
   * of the other bodies succeed.
   */
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Number of waiting bodies by sensor. */
  readonly #ofSensors = new Map<string, number>();
  /**
   * Zeek TSV headers by principal, for rows in later bodies: shippers that follow a file send each line
   * separately. The headers are lost at a restart.
   */
  readonly #headers = new Map<string | undefined, readonly TsvHeader[]>();

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
  }

  /** Number of waiting bodies and parsing tasks in progress. */
  get pending(): number {
    return this.#waiting.length + this.#running;
  }

  /**
   * Queues a body, and resolves when the body is parsed. Rejects with OVERLOADED when `limits.maxQueuedBodies` bodies
   * wait, or half as many from the body's sensor, so that there is room for other sensors. The caller then keeps the
   * body. Rejects with the parser's error if the whole body is refused.
   */
  add(input: IngestInput, options: BodyOptions = {}): Promise<ParsedShare> {
    const { sensorId } = input;
    const ofSensor = sensorId === undefined ? 0 : (this.#ofSensors.get(sensorId) ?? 0);
    if (ofSensor >= limits.maxQueuedBodies / 2)
      return Promise.reject(
        new ServiceError('OVERLOADED', `${ofSensor} bodies of this sensor are already waiting to be parsed`),
      );
    if (this.#waiting.length >= limits.maxQueuedBodies)
      return Promise.reject(
        new ServiceError('OVERLOADED', `${limits.maxQueuedBodies} bodies are already waiting to be parsed`),
      );
    if (sensorId !== undefined) this.#ofSensors.set(sensorId, ofSensor + 1);
    const isAlone = performance.now() - this.#refusedAt < aloneMs;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input: isAlone ? { ...input, alone: true } : input, options, resolve, reject });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#running < this.#options.threads && this.#waiting.length > 0) void this.#run(this.#next());
  }

  /**
   * Returns the oldest body, with directly following bodies that may share its task. No body waits for a
   * later body.
   */
  #next(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { input } of this.#waiting) {
      bytes += input.length;
      if (!goesTogether(input) || bytes > limits.maxGroupedBytes) break;
      count++;
    }
    const next = this.#waiting.splice(0, Math.max(1, count));
    for (const { input } of next) this.#left(input.sensorId);
    return next;
  }

  #left(sensorId: string | undefined): void {
    if (sensorId === undefined) return;
    const rest = this.#ofSensors.get(sensorId)! - 1;
    if (rest === 0) this.#ofSensors.delete(sensorId);
    else this.#ofSensors.set(sensorId, rest);
  }

  async #run(bodies: readonly Waiting[]): Promise<void> {
    this.#running++;
    try {
      const { groups, places } = await this.#options.parse(bodies.map(({ input }) => this.#withHeaders(input)));
      const commits = new Map<number, Promise<Committed>>();
      for (const [at, { input, options, resolve, reject }] of bodies.entries()) {
        const place = places[at]!;
        if ('error' in place) {
          reject(place.error);
          continue;
        }
        const group = groups[place.group]!;
        const body = group.bodies[place.body]!;
        if (body.headers !== undefined) this.#remember(input.sensorId, body.headers);
        const committing = commits.get(place.group) ?? this.#commit(group, options);
        commits.set(place.group, committing);
        const stored = committing.then((committed) => shareOf(body, committed));
        // The caller may fail before it awaits `stored`. Without a handler, a rejection would then end the process.
        stored.catch(() => undefined);
        resolve({ body, stored });
      }
    } catch (error) {
      for (const { reject } of bodies) reject(error);
    }
    this.#running--;
    this.#dispatch();
  }

  /**
   * Commits a group with the options of its first body, because a body with options is the only body of its group.
   */
  async #commit(
    { bodies, hits, slow, reached, ...batch }: ParsedGroup,
    { key, receipt }: BodyOptions,
  ): Promise<Committed> {
    const { store, rules, limitReached, onStored } = this.#options;
    rules.wereSlow(slow);
    for (const limit of reached) limitReached(limit);
    const { digest, sha256 } = bodies[0] ?? {};
    const idempotency = key === undefined || digest === undefined ? {} : { idempotency: { key, digest } };
    const stated = receipt === undefined || sha256 === undefined ? {} : { receipt: { ...receipt, sha256 } };
    try {
      const committed = await store.commit({
        ...batch,
        answer: sumOf(bodies),
        ...idempotency,
        ...stated,
      });
      if (!committed.replayed) rules.count(hits, committed.fired);
      setImmediate(onStored, committed.blocks);
      return committed;
    } catch (error) {
      if (bodies.length > 1) this.#refusedAt = performance.now();
      throw error;
    }
  }

  #withHeaders(input: IngestInput): IngestInput {
    const headers = this.#headers.get(input.sensorId);
    return headers === undefined ? input : { ...input, headers };
  }

  #remember(sensorId: string | undefined, newer: readonly TsvHeader[]): void {
    const merged = mergeHeaders(this.#headers.get(sensorId) ?? [], newer);
    this.#headers.delete(sensorId);
    this.#headers.set(sensorId, merged);
    const [oldest] = this.#headers.keys();
    if (this.#headers.size > limits.maxTsvHeaderSensors) this.#headers.delete(oldest);
  }
}

function shareOf(body: ReadBody, committed: Committed): StoredShare {
  const { replayed, blocks, refused = [], receipt } = committed;
  const answer = replayed ? committed.answer : withDuplicates(body, refused);
  return { answer, replayed, blocks, refused, ...(receipt === undefined ? {} : { receipt }) };
}

/**
 * Returns the sum of the bodies' results, which is stored under the idempotency key. A body with such a key is
 * the only body of its group.
 */
function sumOf(bodies: readonly ReadBody[]): IngestAnswer {
  const sum = (of: (answer: IngestAnswer) => number) => bodies.reduce((total, { answer }) => total + of(answer), 0);
  return {
    accepted: sum(({ accepted }) => accepted),
    rejected: sum(({ rejected }) => rejected),
    ignored: sum(({ ignored }) => ignored),
    duplicates: 0,
    errors: bodies[0]?.answer.errors ?? [],
  };
}

/** Returns the result of a body with its duplicate rows counted as duplicates. */
function withDuplicates({ answer, rows }: ReadBody, refused: readonly PartialBlock[]): IngestAnswer {
  if (refused.length === 0) return answer;
  let duplicates = 0;
  for (const [block, from, to] of rows) {
    const kept = refused.find((one) => one.block === block)?.kept;
    if (kept !== undefined) duplicates += to - from - kept.filter((row) => row >= from && row < to).length;
  }
  return duplicates === 0 ? answer : { ...answer, accepted: answer.accepted - duplicates, duplicates };
}
