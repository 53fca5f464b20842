import { clearTimeout, setTimeout } from 'node:timers';
import { ProjectionError } from '../inventory/store/skipped-events.ts';
import { limits } from '../limits.ts';
import type { FromProjector, Sequences, ToProjector } from '../projections/delta.ts';
import type { Projector } from './projector.ts';

/** Maximum deltas that are sent but not committed. */
const maxUncommitted = 2;
/**
 * Pause after the commit of a delta, in units of the time that the commit took, so that commits of small deltas take a
 * tenth of the store's time. No pause if this many events wait.
 */
const pause = { share: 9, unlessEvents: 16_384 } as const;

/** Runs a projector as the store's messages request. Runs it in steps, so that messages are received between steps. */
export class ProjectorRunner {
  readonly #projector: Projector;
  readonly #send: (message: FromProjector) => void;
  /** Ends of events to process, ascending. The first may be partly processed. */
  #ends: Sequences[] = [];
  /** Whether passes may not cross the last of the ends. */
  #isLastBoundary = false;
  #isRunning = false;
  #isFinishing = false;
  #start = 0;
  #uncommitted = 0;
  #isAwaited = false;
  /** Earliest time of the next small delta, by performance.now(). */
  #pauseUntil = 0;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(projector: Projector, send: (message: FromProjector) => void) {
    this.#projector = projector;
    this.#send = send;
  }

  receive(message: ToProjector): void {
    switch (message.kind) {
      case 'start':
        this.#projector.clocks = message.clocks;
        this.#start = message.start;
        this.#ends = [];
        this.#uncommitted = 0;
        this.#pauseUntil = 0;
        this.#guarded(() => {
          this.#projector.start(message);
          this.#isRunning = true;
        });
        break;
      case 'advance':
        this.#projector.clocks = message.clocks;
        this.#isAwaited ||= message.isAwaited;
        this.#advance(message.to, message.isBoundary);
        break;
      case 'committed':
        this.#uncommitted--;
        this.#pauseUntil = performance.now() + Math.min(limits.inventoryPauseMs, pause.share * message.costMs);
        break;
      case 'intel':
        this.#guarded(() => this.#projector.reloadIntel());
        break;
      case 'finish':
        this.#isFinishing = true;
        break;
    }
    this.#soon();
  }

  close(): void {
    this.#isRunning = false;
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
  }

  #advance(to: Sequences, isBoundary: boolean): void {
    // The last end is replaced, unless it is a boundary or the first end, which may be in progress.
    if (this.#ends.length > 1 && !this.#isLastBoundary) this.#ends.pop();
    const last = this.#ends.at(-1) ?? this.#projector.position;
    if (to.network > last.network || to.dns > last.dns) {
      this.#ends.push(to);
      this.#isLastBoundary = isBoundary;
    } else this.#isLastBoundary ||= isBoundary;
  }

  get #waiting(): number {
    const last = this.#ends.at(-1);
    const { network, dns } = this.#projector.position;
    return last === undefined ? 0 : last.network - network + last.dns - dns;
  }

  #soon(): void {
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined;
      this.#guarded(() => this.#step());
    });
  }

  #in(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#soon(), ms);
    this.#timer.unref();
  }

  #step(): void {
    if (this.#isFinishing) {
      this.#isFinishing = false;
      if (this.#isRunning) this.#guarded(() => this.#send({ kind: 'delta', delta: this.#projector.finish() }));
      this.#isRunning = false;
      this.#send({ kind: 'finished' });
      return;
    }
    if (!this.#isRunning || this.#uncommitted >= maxUncommitted) return;
    if (this.#waiting === 0) {
      this.#ends = [];
      this.#isAwaited = false;
      return this.#settle();
    }
    const pauseMs = this.#pauseUntil - performance.now();
    if (pauseMs > 0 && !this.#isAwaited && this.#waiting < pause.unlessEvents) return this.#in(pauseMs);
    const delta = this.#projector.step(this.#ends);
    this.#uncommitted++;
    this.#send({ kind: 'delta', delta });
    this.#soon();
  }

  #settle(): void {
    const { delta, againMs } = this.#projector.settle();
    if (delta !== undefined) {
      this.#uncommitted++;
      this.#send({ kind: 'delta', delta });
    }
    if (againMs !== undefined) this.#in(againMs);
  }

  /** Reports an error, and waits for the next start. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#isRunning = false;
      this.#ends = [];
      const isKnown = error instanceof ProjectionError;
      const cause = (isKnown ? error.cause : error) as Error;
      const rows = isKnown ? error.input.rows : undefined;
      this.#send({ kind: 'failed', start: this.#start, error: cause, ...(rows === undefined ? {} : { rows }) });
    }
  }
}
