import { deserialize, serialize } from 'node:v8';
import { unpackCorrelations } from '../../../detect/packed-rules.ts';
import type { CorrelationInput } from '../../../detect/sigma/correlation/correlation-input.ts';
import { Correlator, type CorrelatorCounters } from '../../../detect/sigma/correlation/correlator.ts';
import type { CorrelatorState } from '../../../detect/sigma/correlation/correlator-state.ts';
import type { Fired } from '../../../detect/sigma/correlation/fired.ts';
import type { LinkedCorrelation } from '../../../detect/sigma/correlation/linked.ts';
import { type LimitName, limits } from '../../../limits.ts';
import { atLeast } from '../alerts.ts';
import { lastSequence, type Tables } from '../tables.ts';

/** Inputs that a commit brought, and the clock by which they were judged. */
export interface TakenInputs {
  readonly at: number;
  readonly inputs: readonly CorrelationInput[];
}

/** State of a moment, and the last row of inputs that is in it. */
interface KeptState {
  readonly through: number;
  readonly state: CorrelatorState;
}

/** What a correlation found. */
export interface FiredCorrelation {
  readonly linked: LinkedCorrelation;
  readonly fired: Fired;
}

/** Bytes of state that are written for an input at most: so many inputs wait at least until it is written again. */
const stateBytesPerInput = 256;

/**
 * The one owner of the correlator, in the thread that writes siem.mdb. Inputs are taken in the order of commits; the
 * rows of what was taken commit with the alerts that it raised:
 *
 * ```
 *   state         at row 41                        written now and then
 *   rows                     42 43 44 45           each with its commit
 *   memory                               = state + rows
 * ```
 *
 * A crash or an undone transaction takes away what memory holds; the state with the rows after it is the same again,
 * because they are taken by the clock of then. What they found was committed with them, and is not told again.
 *
 * All but the counters is called inside of write transactions.
 */
export class Correlations {
  readonly #tables: Tables;
  #linked = new Map<string, LinkedCorrelation>();
  /** Undefined when memory has nothing yet, or nothing any more. */
  #correlator: Correlator | undefined;
  /** Last row of inputs. */
  #last = 0;
  /** Inputs in the rows after the state. */
  #waiting = 0;
  /** Of the state, when it was last written. */
  #stateBytes = 0;
  /** Counters of the correlator that count again what was counted before. */
  #recalled: CorrelatorCounters = none;
  /** What correlators before this one counted. */
  #before: CorrelatorCounters = none;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Whether something grave could come of inputs. */
  mayRaiseHigh(inputs: readonly { readonly correlation: string }[]): boolean {
    if (inputs.length === 0) return false;
    this.#ready();
    return [...this.#linked.values()].some(({ document }) => atLeast(document.level ?? 'medium', 'high'));
  }

  /** Takes what a batch brought. @param nowMs - epoch milliseconds */
  take(inputs: readonly CorrelationInput[], nowMs: number): FiredCorrelation[] {
    if (inputs.length === 0) return [];
    const correlator = this.#ready();
    const row = ++this.#last;
    this.#waiting += inputs.length;
    const fired = correlator.take(inputs, nowMs);
    const wait = Math.min(this.#stateBytes / stateBytesPerInput, limits.maxWaitingFacts);
    // With the state, the row has no use any more.
    if (this.#waiting >= Math.max(limits.factsPerState, wait)) this.#write(correlator);
    else this.#tables.correlationInputs.putSync(row, { at: nowMs, inputs });
    return fired.map((one) => ({ linked: this.#linked.get(one.correlation)!, fired: one }));
  }

  /** Runs these correlations from now on. What those that are the same remember stays. */
  use(packed: Uint8Array): void {
    const state = this.#ready().state();
    this.#retire();
    const correlations = unpackCorrelations(packed);
    this.#linked = new Map(correlations.map((one) => [one.key, one]));
    this.#correlator = new Correlator(correlations);
    this.#correlator.restore(state);
    this.#recalled = none;
    this.#tables.rulesState.putSync('correlations', Buffer.from(packed));
    this.#write(this.#correlator);
  }

  /** Writes the state, so that the next start has nothing to take again. */
  write(): void {
    if (this.#waiting > 0 && this.#correlator !== undefined) this.#write(this.#correlator);
  }

  /** The transaction was undone: what memory holds may never have been. */
  forget(): void {
    if (this.#correlator !== undefined) this.#retire();
    this.#correlator = undefined;
  }

  /** How often something was not counted, or forgotten, since this was made. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const { late, ahead, forgotten } = this.#counted();
    const reached = {
      maxCorrelationDelay: late,
      maxClockLeadMs: ahead,
      maxCorrelationGroups: forgotten,
    };
    return Object.fromEntries(Object.entries(reached).filter(([, times]) => times > 0));
  }

  #ready(): Correlator {
    if (this.#correlator !== undefined) return this.#correlator;
    const { rulesState, correlationInputs } = this.#tables;
    const packed = rulesState.get('correlations');
    const correlations = packed === undefined ? [] : readable(packed);
    this.#linked = new Map(correlations.map((one) => [one.key, one]));
    const correlator = new Correlator(correlations);
    const bytes = rulesState.get('state');
    const kept = bytes === undefined ? undefined : (deserialize(bytes) as KeptState);
    if (kept !== undefined) correlator.restore(kept.state);
    this.#stateBytes = bytes?.length ?? 0;
    this.#waiting = 0;
    for (const { value } of correlationInputs.getRange({ start: (kept?.through ?? 0) + 1 })) {
      correlator.take(value.inputs, value.at);
      this.#waiting += value.inputs.length;
    }
    this.#last = Math.max(kept?.through ?? 0, lastSequence(correlationInputs));
    this.#recalled = correlator.counters;
    this.#correlator = correlator;
    return correlator;
  }

  #write(correlator: Correlator): void {
    const { rulesState, correlationInputs } = this.#tables;
    const kept: KeptState = { through: this.#last, state: correlator.state() };
    const bytes = serialize(kept);
    rulesState.putSync('state', bytes);
    for (const row of [...correlationInputs.getKeys()]) correlationInputs.removeSync(row);
    this.#stateBytes = bytes.length;
    this.#waiting = 0;
  }

  #retire(): void {
    this.#before = this.#counted();
    this.#recalled = this.#correlator?.counters ?? none;
  }

  #counted(): CorrelatorCounters {
    const now = this.#correlator?.counters ?? this.#recalled;
    const sum = (name: keyof CorrelatorCounters) => this.#before[name] + now[name] - this.#recalled[name];
    return {
      late: sum('late'),
      ahead: sum('ahead'),
      ungrouped: sum('ungrouped'),
      valueless: sum('valueless'),
      unknown: sum('unknown'),
      forgotten: sum('forgotten'),
    };
  }
}

const none: CorrelatorCounters = {
  late: 0,
  ahead: 0,
  ungrouped: 0,
  valueless: 0,
  unknown: 0,
  forgotten: 0,
};

/** Those of another version of the program are not run: the rules that are loaded next bring them anew. */
function readable(packed: Uint8Array): readonly LinkedCorrelation[] {
  try {
    return unpackCorrelations(packed);
  } catch {
    return [];
  }
}
