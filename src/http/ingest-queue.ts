import { ServiceError } from '../errors.ts';
import { mergeHeaders, type TsvHeader } from '../events/tsv-headers.ts';
import type { ParsedGroup, ParsedGroups } from '../ingest/parse-bodies.ts';
import type { IngestInput, ReadBody } from '../ingest/parse-body.ts';
import { limits } from '../limits.ts';

/** A body that was parsed, and the group that it is stored with. */
export interface ParsedShare {
  readonly body: ReadBody;
  readonly group: ParsedGroup;
}

interface Waiting {
  readonly input: IngestInput;
  readonly resolve: (share: ParsedShare) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Bodies on their way to the threads that parse them, in the order in which they came. One that finds a thread free goes
 * there at once, alone. While all are busy, small ones gather, and the thread that is free next takes as many as are
 * parsed and stored together: the more there are, the less each costs, which is what keeps a flood of them from queueing
 * up.
 */
export class IngestQueue {
  readonly #parse: (inputs: readonly IngestInput[]) => Promise<ParsedGroups>;
  readonly #goesTogether: (input: IngestInput) => boolean;
  readonly #threads: number;
  #waiting: Waiting[] = [];
  #running = 0;
  /** Waiting bodies by sensor. */
  readonly #ofSensors = new Map<string, number>();
  /**
   * Headers of Zeek TSV by principal, for rows in later bodies: shippers that follow a file send line by line. They end with
   * the process.
   */
  readonly #headers = new Map<string | undefined, readonly TsvHeader[]>();

  /**
   * @param goesTogether - whether a body may be in a task with others
   * @param parse - a task of the pool; the bodies are moved, and errors are as they were before they crossed threads
   */
  constructor(
    threads: number,
    parse: (inputs: readonly IngestInput[]) => Promise<ParsedGroups>,
    goesTogether: (input: IngestInput) => boolean,
  ) {
    this.#threads = threads;
    this.#parse = parse;
    this.#goesTogether = goesTogether;
  }

  /** Bodies that wait, and tasks under way. */
  get pending(): number {
    return this.#waiting.length + this.#running;
  }

  /**
   * Rejects with OVERLOADED, and the body stays the caller's, when `limits.maxQueuedBodies` wait, or half as many of the
   * same sensor: another one still finds room then.
   */
  add(input: IngestInput): Promise<ParsedShare> {
    const { sensorId } = input;
    const ofSensor = sensorId === undefined ? 0 : (this.#ofSensors.get(sensorId) ?? 0);
    if (ofSensor >= limits.maxQueuedBodies / 2)
      return Promise.reject(
        new ServiceError('OVERLOADED', `${ofSensor} bodies of this sensor wait to be parsed already`),
      );
    if (this.#waiting.length >= limits.maxQueuedBodies)
      return Promise.reject(
        new ServiceError('OVERLOADED', `${limits.maxQueuedBodies} bodies wait to be parsed already`),
      );
    if (sensorId !== undefined) this.#ofSensors.set(sensorId, ofSensor + 1);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#running < this.#threads && this.#waiting.length > 0) void this.#run(this.#next());
  }

  /** The oldest, with those right behind it that go together: none waits for what came later. */
  #next(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { input } of this.#waiting) {
      bytes += input.length;
      if (!this.#goesTogether(input) || bytes > limits.maxGroupedBytes) break;
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
      const { groups, places } = await this.#parse(bodies.map(({ input }) => this.#withHeaders(input)));
      for (const [at, { input, resolve, reject }] of bodies.entries()) {
        const place = places[at]!;
        if ('error' in place) {
          reject(place.error);
          continue;
        }
        const body = groups[place.group]!.bodies[place.body]!;
        if (body.headers !== undefined) this.#remember(input.sensorId, body.headers);
        resolve({ group: groups[place.group]!, body });
      }
    } catch (error) {
      for (const { reject } of bodies) reject(error);
    }
    this.#running--;
    this.#dispatch();
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
