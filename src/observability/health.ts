import { setTimeout as delay } from 'node:timers/promises';
import type { Health } from '../contract/resources/health.ts';
import type { Ledger, LedgerStatus } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import type { Store } from '../store/store.ts';

type State = Pick<Health, 'status' | 'ledger' | 'advice' | 'regression' | 'findings'>;

/** The outcome of a status request to a thread: `unanswered` if the thread is busy with other work. */
type Answer<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed' }
  | { readonly kind: 'unanswered'; readonly waitedMs: number };

/**
 * Sends one status request at a time to a thread. Concurrent callers share the result of the request, and wait only
 * briefly.
 */
class StatusRequest<T> {
  readonly #ask: () => Promise<T>;
  readonly #answerMs: number;
  #pending: { readonly answer: Promise<Answer<T>>; readonly since: number } | undefined;

  constructor(ask: () => Promise<T>, answerMs: number) {
    this.#ask = ask;
    this.#answerMs = answerMs;
  }

  async answer(): Promise<Answer<T>> {
    this.#pending ??= { answer: this.#settled(), since: performance.now() };
    const { answer, since } = this.#pending;
    const stop = new AbortController();
    const late = delay(this.#answerMs, undefined, { signal: stop.signal }).then(
      () => ({ kind: 'unanswered', waitedMs: performance.now() - since }) as const,
    );
    late.catch(() => undefined);
    try {
      return await Promise.race([answer, late]);
    } finally {
      stop.abort();
    }
  }

  async #settled(): Promise<Answer<T>> {
    try {
      return { kind: 'answered', value: await this.#ask() };
    } catch {
      return { kind: 'failed' };
    } finally {
      this.#pending = undefined;
    }
  }
}

interface HealthOptions {
  readonly store: Pick<Store, 'status'>;
  readonly ledger: Pick<Ledger, 'status'>;
  /** Returns whether the service is neither starting nor stopping. */
  readonly ready: () => boolean;
  /** How long a request waits for a busy thread. Default: limits.healthAnswerMs. */
  readonly answerMs?: number;
  /** How long a thread may be busy before it is reported as stuck. Default: limits.healthStuckMs. */
  readonly stuckMs?: number;
}

/**
 * Determines whether the service can do its work. A busy thread (for example with a body of a hundred
 * thousand new hosts) responds late. Until limits.healthStuckMs, this is not a fault, and the thread's last
 * known state is used.
 */
export class HealthCheck {
  readonly #store: StatusRequest<unknown>;
  readonly #ledger: StatusRequest<LedgerStatus>;
  readonly #ready: () => boolean;
  readonly #stuckMs: number;
  #known: LedgerStatus | undefined;

  constructor(options: HealthOptions) {
    const { store, ledger, ready, answerMs = limits.healthAnswerMs, stuckMs = limits.healthStuckMs } = options;
    this.#store = new StatusRequest(() => store.status(), answerMs);
    this.#ledger = new StatusRequest(() => ledger.status(), answerMs);
    this.#ready = ready;
    this.#stuckMs = stuckMs;
  }

  async state(): Promise<State> {
    const [stored, logged] = await Promise.all([this.#store.answer(), this.#ledger.answer()]);
    if (logged.kind === 'answered') this.#known = logged.value;
    const known = this.#known;
    const state = known === undefined ? 'unknown' : known.health.state === 'ok' ? 'ok' : known.health.fault;
    const unavailable = (ledger: State['ledger'], advice: string): State => ({
      status: 'unavailable',
      ledger,
      advice,
    });
    if (logged.kind === 'failed') return unavailable('unknown', 'The ledger thread is restarting; see the log.');
    if (stored.kind === 'failed') return unavailable(state, 'The store thread is restarting; see the log.');
    for (const [thread, answer] of Object.entries({ ledger: logged, store: stored }))
      if (answer.kind === 'unanswered' && answer.waitedMs > this.#stuckMs)
        return unavailable(state, `The ${thread} thread has not answered for ${Math.round(answer.waitedMs / 1000)} s.`);
    if (!this.#ready()) return unavailable(state, 'The service is starting or stopping.');
    if (known === undefined) return { status: 'ok', ledger: 'unknown' };
    const { health, regression, findings } = known;
    // The log still accepts entries, because the witness's report is not signed.
    const rolledBack = findings.find(({ code }) => code === 'witness_rollback')?.message;
    const advice = health.state === 'ok' ? rolledBack : health.advice;
    return {
      ...(advice === undefined ? { status: 'ok' } : { status: 'degraded', advice }),
      ledger: state,
      ...(regression === undefined ? {} : { regression }),
      ...(findings.length === 0 ? {} : { findings: [...findings] }),
    };
  }
}
