import { deserialize, serialize } from 'node:v8';
import { atLeast } from '../../alerts/store/alerts.ts';
import type { FoundInEvents } from '../../alerts/store/pending-findings.ts';
import { lastSequence } from '../../database/rows.ts';
import { type LimitName, limits } from '../../limits.ts';
import { unpackCorrelations } from '../packed-rules.ts';
import type { CorrelationInput } from '../sigma/correlation/correlation-input.ts';
import { Correlator, type CorrelatorCounters } from '../sigma/correlation/correlator.ts';
import type { CorrelatorState } from '../sigma/correlation/correlator-state.ts';
import type { Fired } from '../sigma/correlation/fired.ts';
import type { LinkedCorrelation } from '../sigma/correlation/linked.ts';
import { correlationFinding } from '../sigma-finding.ts';
import type { DetectTables } from './tables.ts';

/** Inputs of a commit, and the clock time of their evaluation. */
export interface TakenInputs {
  readonly at: number;
  readonly inputs: readonly CorrelationInput[];
}

/** State of the correlator, and the last row of inputs that it includes. */
interface KeptState {
  readonly through: number;
  readonly state: CorrelatorState;
}

/** Maximum bytes of state written per input. A larger state is written after more inputs. */
const stateBytesPerInput = 256;
/** Limits the refreshing of alerts to a tenth of the time. */
const refreshingShare = 9;

/**
 * Owns the correlator, in the store thread. Inputs are processed in the order of commits; the rows of inputs
 * commit with the alerts that they raised:
 *
 * ```
 *   state         at row 41                        written from time to time
 *   rows                     42 43 44 45           each in its own commit
 *   in memory                            = state + rows
 * ```
 *
 * A crash or an aborted transaction discards the correlator in memory. Replaying the rows after the state gives an
 * identical correlator, because each row contains its clock time. The findings of these rows were committed with the
 * rows, and are not reported again. Figures of ongoing episodes are reported again after `resume`, because the state
 * does not record which figures were already reported.
 *
 * All methods except the counters are called inside write transactions.
 */
export class Correlations {
  readonly #tables: DetectTables;
  #linked = new Map<string, LinkedCorrelation>();
  /** Undefined before the first use and after `forget`. */
  #correlator: Correlator | undefined;
  /** Number of the last row of inputs. */
  #last = 0;
  /** Number of inputs in the rows after the state. */
  #waiting = 0;
  /** Size of the state when it was last written. */
  #stateBytes = 0;
  /** Time of the next refresh of alerts about ongoing activity, by performance.now(). */
  #refreshAt = 0;
  /** Counts from inputs that the current correlator replayed. These inputs were already counted. */
  #recalled: CorrelatorCounters = none;
  /** Counts of earlier correlators. */
  #before: CorrelatorCounters = none;

  constructor(tables: DetectTables) {
    this.#tables = tables;
  }

  /** Returns true if inputs could cause a finding of severity high or above. */
  mayRaiseHigh(inputs: readonly { readonly correlation: string }[]): boolean {
    if (inputs.length === 0) return false;
    this.#ready();
    return [...this.#linked.values()].some(({ document }) => atLeast(document.level ?? 'medium', 'high'));
  }

  /**
   * Processes the inputs of a batch.
   *
   * @param nowMs - epoch milliseconds
   */
  take(inputs: readonly CorrelationInput[], nowMs: number): FoundInEvents[] {
    if (inputs.length === 0) return [];
    const correlator = this.#ready();
    const row = ++this.#last;
    this.#waiting += inputs.length;
    const fired = correlator.take(inputs, nowMs);
    const wait = Math.min(this.#stateBytes / stateBytesPerInput, limits.maxWaitingFacts);
    // The state includes the row, which therefore need not be stored.
    if (this.#waiting >= Math.max(limits.factsPerState, wait)) this.#write(correlator);
    else this.#tables.correlationInputs.putSync(row, { at: nowMs, inputs });
    return fired.map((one) => this.#found(one));
  }

  /** Determines which alerts wait for a refresh, in case no input follows a crash or an aborted transaction. */
  resume(): void {
    this.#ready();
  }

  /** True if alerts of ongoing activity wait for a refresh. Does not read the database. */
  get isGrowing(): boolean {
    return (this.#correlator?.growing ?? 0) > 0;
  }

  /**
   * Refreshes the alerts of ongoing episodes, if due. Returns the delay until the next refresh, in
   * milliseconds; undefined if no alert waits for a refresh.
   */
  refresh(raise: (found: readonly FoundInEvents[]) => void): number | undefined {
    const correlator = this.#ready();
    if (correlator.growing === 0) return undefined;
    const began = performance.now();
    if (began >= this.#refreshAt) {
      raise(correlator.refresh(limits.refreshedKeys).map((one) => this.#found(one)));
      const now = performance.now();
      this.#refreshAt = now + Math.max(limits.alertRefreshMs, refreshingShare * (now - began));
    }
    return correlator.growing === 0 ? undefined : Math.max(1, this.#refreshAt - performance.now());
  }

  /** Replaces the correlations. Unchanged correlations keep their state. */
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

  #found(fired: Fired): FoundInEvents {
    const events = fired.events.map((one) => one.slice(one.indexOf(' ') + 1)).filter((id) => id !== '');
    return { finding: correlationFinding(this.#linked.get(fired.correlation)!, fired), events };
  }

  /** Writes the state, so that the next start has nothing to replay. Makes the next `refresh` due. */
  write(): void {
    this.#refreshAt = 0;
    if (this.#waiting > 0 && this.#correlator !== undefined) this.#write(this.#correlator);
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    if (this.#correlator !== undefined) this.#retire();
    this.#correlator = undefined;
  }

  /** Returns how often inputs or groups were dropped since this object was created. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const { late, ahead, forgotten } = this.#counted();
    const reached = { maxCorrelationDelay: late, maxClockLeadMs: ahead, maxCorrelationGroups: forgotten };
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
    const names = Object.keys(none) as (keyof CorrelatorCounters)[];
    const sum = (name: keyof CorrelatorCounters) => this.#before[name] + now[name] - this.#recalled[name];
    return Object.fromEntries(names.map((name) => [name, sum(name)])) as unknown as CorrelatorCounters;
  }
}

const none: CorrelatorCounters = { late: 0, ahead: 0, ungrouped: 0, valueless: 0, unknown: 0, forgotten: 0 };

/**
 * Returns the correlations, or an empty list if another version of the program packed them. The next load of
 * the rules replaces the correlations.
 */
function readable(packed: Uint8Array): readonly LinkedCorrelation[] {
  try {
    return unpackCorrelations(packed);
  } catch {
    return [];
  }
}
