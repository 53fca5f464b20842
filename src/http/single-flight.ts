import type { Queries } from '../analytics/queries.ts';
import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Pool } from '../rpc/pool.ts';
import type { TopologyQuery } from '../store/store.ts';
import { queryLimits, withLimitMetrics } from './limit-metrics.ts';

export interface TopologyGateParts {
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** Returns the newest sequence of the channel `topology`. */
  readonly head: () => number;
  readonly limitReached: (limit: LimitName) => void;
}

/** A requested graph, shared by all callers that request it. */
interface PendingGraph {
  readonly key: string;
  readonly query: TopologyQuery;
  /** Id of the first caller. */
  readonly principal: string;
  readonly answer: PromiseWithResolvers<string>;
  callers: number;
  /** The newest sequence at the start of the computation. */
  seq?: number;
}

/**
 * Computes one graph at a time, because each takes up to a second of a thread that lists need too. When a
 * graph is done, the next one is queued in the pool, behind waiting lists. Callers share a result if they
 * request a graph that is already waiting, or that is being computed as of the newest sequence.
 */
export class SingleFlight {
  readonly #parts: TopologyGateParts;
  readonly #waiting = new Set<PendingGraph>();
  #running: PendingGraph | undefined;

  constructor(parts: TopologyGateParts) {
    this.#parts = parts;
  }

  /**
   * Returns the attributes of a graph as JSON. Throws RATE_LIMITED for a principal with too many waiting
   * graphs, OVERLOADED if too many graphs wait in total, CANCELLED if the signal is aborted, and the errors
   * of the query.
   *
   * @param principal - the id of the caller
   */
  async ask(query: TopologyQuery, principal: string, signal?: AbortSignal): Promise<string> {
    if (signal?.aborted) throw cancelled();
    const key = keyOf(query);
    const graph = this.#joined(key) ?? this.#begin({ key, query, principal });
    graph.callers++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        reject(cancelled());
        // A computation that has begun is completed, because its thread cannot be freed earlier.
        if (--graph.callers === 0) this.#waiting.delete(graph);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      graph.answer.promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort));
      this.#next();
    });
  }

  #joined(key: string): PendingGraph | undefined {
    const running = this.#running;
    if (running?.key === key && running.seq === this.#parts.head()) return running;
    for (const graph of this.#waiting) if (graph.key === key) return graph;
    return undefined;
  }

  #begin(request: Pick<PendingGraph, 'key' | 'query' | 'principal'>): PendingGraph {
    let own = 0;
    for (const { principal } of this.#waiting) if (principal === request.principal) own++;
    if (own >= limits.maxWaitingTopologiesPerPrincipal)
      throw this.#refused('RATE_LIMITED', 'maxWaitingTopologiesPerPrincipal');
    if (this.#waiting.size >= limits.maxWaitingTopologies) throw this.#refused('OVERLOADED', 'maxWaitingTopologies');
    const graph: PendingGraph = { ...request, answer: Promise.withResolvers(), callers: 0 };
    this.#waiting.add(graph);
    return graph;
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const [graph] = this.#waiting;
    if (graph === undefined) return;
    const { queries, head } = this.#parts;
    graph.seq = head();
    this.#waiting.delete(graph);
    this.#running = graph;
    withLimitMetrics(this.#parts, queryLimits, queries.run('topology', graph.query))
      .then(graph.answer.resolve, graph.answer.reject)
      .finally(() => {
        this.#running = undefined;
        this.#next();
      });
  }

  #refused(code: 'RATE_LIMITED' | 'OVERLOADED', limit: LimitName): ServiceError {
    this.#parts.limitReached(limit);
    const whose = code === 'RATE_LIMITED' ? ' of this principal' : '';
    return new ServiceError(code, `${limits[limit]} topology requests${whose} are already waiting`, {
      retry_after_s: 1,
    });
  }
}

const keyOf = ({ from, to, focus, depth, group_by, limit }: TopologyQuery): string =>
  JSON.stringify([from, to, focus, depth, group_by, limit]);

const cancelled = (): ServiceError => new ServiceError('CANCELLED', 'topology: the caller disconnected');
