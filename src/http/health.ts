import { setTimeout as delay } from 'node:timers/promises';
import type { Health } from '../contract/resources/health.ts';
import type { Ledger, LedgerStatus } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import type { Store } from '../store/store.ts';

type State = Pick<Health, 'status' | 'ledger' | 'advice' | 'regression' | 'findings'>;

/** What a thread said when it was asked how it is: `unanswered` while it is busy with something else. */
type Answer<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed' }
  | { readonly kind: 'unanswered'; readonly waitedMs: number };

/** One question at a time to a thread: who asks meanwhile waits for the same answer, and not for long. */
class Asked<T> {
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
  /** False while starting or stopping. */
  readonly ready: () => boolean;
  /** Default: limits.healthAnswerMs. */
  readonly answerMs?: number;
  /** Default: limits.healthStuckMs. */
  readonly stuckMs?: number;
}

/**
 * Whether the service can do its work. A thread that is busy, with a body of a hundred thousand new hosts, answers when it
 * is done: until limits.healthStuckMs that is no illness, and the answer is about what was known last.
 */
export class HealthCheck {
  readonly #store: Asked<unknown>;
  readonly #ledger: Asked<LedgerStatus>;
  readonly #ready: () => boolean;
  readonly #stuckMs: number;
  #known: LedgerStatus | undefined;

  constructor(options: HealthOptions) {
    const {
      store,
      ledger,
      ready,
      answerMs = limits.healthAnswerMs,
      stuckMs = limits.healthStuckMs,
    } = options;
    this.#store = new Asked(() => store.status(), answerMs);
    this.#ledger = new Asked(() => ledger.status(), answerMs);
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
    if (logged.kind === 'failed')
      return unavailable('unknown', 'The ledger thread is restarting; see the log.');
    if (stored.kind === 'failed') return unavailable(state, 'The store thread is restarting; see the log.');
    for (const [thread, answer] of Object.entries({ ledger: logged, store: stored }))
      if (answer.kind === 'unanswered' && answer.waitedMs > this.#stuckMs)
        return unavailable(
          state,
          `The ${thread} thread has not answered for ${Math.round(answer.waitedMs / 1000)} s.`,
        );
    if (!this.#ready()) return unavailable(state, 'The service is starting or stopping.');
    if (known === undefined) return { status: 'ok', ledger: 'unknown' };
    const { health, regression, findings } = known;
    return {
      ...(health.state === 'ok'
        ? { status: 'ok', ledger: 'ok' }
        : { status: 'degraded', ledger: state, advice: health.advice }),
      ...(regression === undefined ? {} : { regression }),
      ...(findings.length === 0 ? {} : { findings: [...findings] }),
    };
  }
}
