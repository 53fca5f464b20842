import { ServiceError } from '../errors.ts';
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

  /** Rejects with OVERLOADED, and the body stays the caller's, when `limits.maxQueuedBodies` wait. */
  add(input: IngestInput): Promise<ParsedShare> {
    if (this.#waiting.length >= limits.maxQueuedBodies)
      return Promise.reject(
        new ServiceError('OVERLOADED', `${limits.maxQueuedBodies} bodies wait to be parsed already`),
      );
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
    return this.#waiting.splice(0, Math.max(1, count));
  }

  async #run(bodies: readonly Waiting[]): Promise<void> {
    this.#running++;
    try {
      const { groups, places } = await this.#parse(bodies.map(({ input }) => input));
      for (const [at, { resolve, reject }] of bodies.entries()) {
        const place = places[at]!;
        if ('error' in place) reject(place.error);
        else resolve({ group: groups[place.group]!, body: groups[place.group]!.bodies[place.body]! });
      }
    } catch (error) {
      for (const { reject } of bodies) reject(error);
    }
    this.#running--;
    this.#dispatch();
  }
}
