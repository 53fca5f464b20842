import type { Queries } from '../analytics/queries.ts';
import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Pool } from '../rpc/pool.ts';
import type { TopologyQuery } from '../store/store.ts';
import { countingRefusals, queryLimits } from './reached.ts';

export interface TopologyGateParts {
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** The newest sequence of the channel `topology`. */
  readonly head: () => number;
  readonly limitReached: (limit: LimitName) => void;
}

/** One graph that is asked for, by however many. */
interface Asked {
  readonly key: string;
  readonly query: TopologyQuery;
  /** Who asked for it first. */
  readonly principal: string;
  readonly answer: PromiseWithResolvers<string>;
  callers: number;
  /** The newest sequence when its turn came. */
  seq?: number;
}

/**
 * Graphs take up to a second of a thread that lists need too. So one is made at a time: the next goes to the pool when
 * the last is there, behind the lists that came meanwhile. Who asks what is being made or waits already gets that, as
 * long as it is of the newest sequence.
 */
export class TopologyGate {
  readonly #parts: TopologyGateParts;
  readonly #waiting = new Set<Asked>();
  #running: Asked | undefined;

  constructor(parts: TopologyGateParts) {
    this.#parts = parts;
  }

  /**
   * The resource's attributes, as JSON. RATE_LIMITED for a principal that waits for as many others already, OVERLOADED
   * when as many as may wait do; CANCELLED as soon as the signal is aborted; what the query itself fails with.
   *
   * @param principal - the id of who asks
   */
  async ask(query: TopologyQuery, principal: string, signal?: AbortSignal): Promise<string> {
    if (signal?.aborted) throw cancelled();
    const key = keyOf(query);
    const asked = this.#joined(key) ?? this.#begin({ key, query, principal });
    asked.callers++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        reject(cancelled());
        // One that runs is finished: it would hold its thread all the same.
        if (--asked.callers === 0) this.#waiting.delete(asked);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      asked.answer.promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort));
      this.#next();
    });
  }

  #joined(key: string): Asked | undefined {
    const running = this.#running;
    if (running?.key === key && running.seq === this.#parts.head()) return running;
    for (const asked of this.#waiting) if (asked.key === key) return asked;
    return undefined;
  }

  #begin(terms: Pick<Asked, 'key' | 'query' | 'principal'>): Asked {
    let own = 0;
    for (const { principal } of this.#waiting) if (principal === terms.principal) own++;
    if (own >= limits.maxWaitingTopologiesPerPrincipal)
      throw this.#refused('RATE_LIMITED', 'maxWaitingTopologiesPerPrincipal');
    if (this.#waiting.size >= limits.maxWaitingTopologies)
      throw this.#refused('OVERLOADED', 'maxWaitingTopologies');
    const asked: Asked = { ...terms, answer: Promise.withResolvers(), callers: 0 };
    this.#waiting.add(asked);
    return asked;
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const [asked] = this.#waiting;
    if (asked === undefined) return;
    const { queries, head } = this.#parts;
    asked.seq = head();
    this.#waiting.delete(asked);
    this.#running = asked;
    countingRefusals(this.#parts, queryLimits, queries.run('topology', asked.query))
      .then(asked.answer.resolve, asked.answer.reject)
      .finally(() => {
        this.#running = undefined;
        this.#next();
      });
  }

  #refused(code: 'RATE_LIMITED' | 'OVERLOADED', limit: LimitName): ServiceError {
    this.#parts.limitReached(limit);
    const whose = code === 'RATE_LIMITED' ? ' of this principal' : '';
    return new ServiceError(code, `${limits[limit]} graphs${whose} wait already`, { retry_after_s: 1 });
  }
}

const keyOf = ({ from, to, focus, depth, group_by, limit }: TopologyQuery): string =>
  JSON.stringify([from, to, focus, depth, group_by, limit]);

const cancelled = (): ServiceError => new ServiceError('CANCELLED', 'topology: the caller gave up');
