import { boundedText } from './bounded-text.ts';
import type { CorrelationInput, Value } from './correlation-input.ts';
import { joinedValue } from './correlation-input.ts';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import { type CorrelatorState, groupState, restoredGroup, stateVersion } from './correlator-state.ts';
import type { Fired } from './fired.ts';
import type { Group, Met } from './group.ts';
import { Groups, type Room } from './groups.ts';
import type { LinkedCorrelation, OuterFeed, Source } from './linked.ts';
import { type Plan, planOf } from './plan.ts';
import { eventsWithin } from './samples.ts';

/** What a correlator did not count, and what it forgot. */
export interface CorrelatorCounters {
  /** Inputs more than a timespan older than the newest of their group. */
  readonly late: number;
  /** Inputs further ahead of the clock than may be; they count as of now. */
  readonly ahead: number;
  /** Inputs without a value in any of the fields to group by. */
  readonly ungrouped: number;
  /** Inputs without the value that is counted. */
  readonly valueless: number;
  /** Inputs of correlations or rules that are not known, as after a change of the rules. */
  readonly unknown: number;
  /** Groups that had to go while they could still have met their condition, because there were too many. */
  readonly forgotten: number;
}

interface Running {
  readonly linked: LinkedCorrelation;
  readonly plan: Plan;
  readonly places: ReadonlyMap<string, number>;
  readonly groups: Groups;
}

/**
 * Runs correlations over what their rules matched, in event time. Everything comes in; there is no clock in here.
 *
 * - **Windows.** An input makes its group fire if some window of the length of the timespan (both ends in it) that has the
 *   input meets the condition. So bounds like `lt` and `eq`, and `not` in a condition, are looked at when something
 *   arrives: what stays away is never found.
 * - **Order.** Inputs of one call are taken by time. Across calls, an input counts while it is at most a timespan older
 *   than the newest of its group, and in whatever order such inputs come, the same groups fire. Each group has a time of
 *   its own, so that one sensor that is behind, or a file read later, loses nothing where others are ahead.
 * - **Groups.** A missing value is a value of its own (`null`) where another field of the group has one; an input that has
 *   none of them can't be said to be of the same host or user as any other, and doesn't count. Values are compared as
 *   they are, upper and lower case being different.
 * - **Repetition.** A group that fired goes on silently, but for a `grows` each time that its inputs have doubled, until
 *   a timespan has passed since. If the condition is met then, it is a new matter. So n inputs in a timespan make it fire
 *   1 + log2(n) times at the most.
 * - **Chains.** What a correlation finds is an input of those that name it: for temporal ones each time that something
 *   arrives while its condition is met, so that its end counts; for others when it begins.
 * - **Room.** Groups and their inputs are bounded, each and together; those touched longest ago go first, and are counted.
 */
export class Correlator {
  readonly #uncounted = { late: 0, ahead: 0, ungrouped: 0, valueless: 0, unknown: 0 };
  readonly #room: Room = { units: 0 };
  readonly #running: ReadonlyMap<string, Running>;
  readonly #limits: CorrelationLimits;

  /** @param correlations - as `linkCorrelations` gives them */
  constructor(correlations: readonly LinkedCorrelation[], limits: CorrelationLimits = correlationLimits) {
    this.#limits = limits;
    this.#running = new Map(correlations.map((linked) => [linked.key, run(linked, limits, this.#room)]));
  }

  /** Since it was made. */
  get counters(): CorrelatorCounters {
    let forgotten = 0;
    for (const { groups } of this.#running.values()) forgotten += groups.forgotten;
    return { ...this.#uncounted, forgotten };
  }

  /** Groups kept. */
  get size(): number {
    let size = 0;
    for (const { groups } of this.#running.values()) size += groups.size;
    return size;
  }

  /**
   * Takes inputs, in the order in which they were committed, and tells what fired.
   * @param nowMs - the owner's clock
   */
  take(inputs: readonly CorrelationInput[], nowMs: number): Fired[] {
    const fired: Fired[] = [];
    const timed = inputs.map((input) => ({ input, time: this.#time(input.timestamp, nowMs) }));
    for (const { groups } of this.#running.values()) groups.forgetAfter(nowMs + this.#limits.leadMs);
    for (const { input, time } of timed.sort((a, b) => a.time - b.time)) this.#take(input, time, fired);
    return fired;
  }

  state(): CorrelatorState {
    const correlations = [...this.#running.values()].map(({ linked, groups }) => ({
      key: linked.key,
      hash: linked.hash,
      clock: groups.clock === -Infinity ? null : groups.clock,
      groups: [...groups.all()].map(groupState),
    }));
    return { version: stateVersion, correlations };
  }

  /**
   * Goes on from a state, for which nothing must have been taken yet. What belongs to correlations that are gone or were
   * changed is dropped.
   * @returns how many correlations of the state were kept and dropped
   */
  restore(state: CorrelatorState): { kept: number; dropped: number } {
    let kept = 0;
    if (state.version === stateVersion) {
      for (const { key, hash, clock, groups } of state.correlations) {
        const running = this.#running.get(key);
        if (running?.linked.hash !== hash) continue;
        kept++;
        running.groups.clock = clock ?? -Infinity;
        for (const group of groups) running.groups.put(restoredGroup(group, running.plan));
      }
    }
    return { kept, dropped: state.correlations.length - kept };
  }

  /**
   * An input ahead of the owner's clock counts as of now: as the newest of its group, it would make those of sensors whose
   * clocks are right late. Small leads are usual and are not counted.
   */
  #time(timestamp: number, nowMs: number): number {
    if (timestamp <= nowMs) return timestamp;
    if (!(timestamp <= nowMs + this.#limits.leadMs)) this.#uncounted.ahead++;
    return nowMs;
  }

  #take(input: CorrelationInput, time: number, fired: Fired[]): void {
    const running = this.#running.get(input.correlation);
    const rule = running?.places.get(input.rule);
    if (
      running === undefined ||
      rule === undefined ||
      input.group.length !== running.linked.document.groupBy.length
    ) {
      this.#uncounted.unknown++;
      return;
    }
    const counted = running.plan.counted(this.#bounded(input.value), rule);
    if (counted === undefined) {
      this.#uncounted.valueless++;
      return;
    }
    if (input.group.length > 0 && input.group.every((value) => value === null)) {
      this.#uncounted.ungrouped++;
      return;
    }
    const values = input.group.map((value) => this.#bounded(value));
    const carried = input.carried.map((value) => this.#bounded(value));
    const group = running.groups.at(values, time);
    const { event, ends } = input;
    const met = group.take({ time, rule, counted, event, ends, carried }, running.plan);
    running.groups.weigh(group);
    this.#makeRoom();
    if (met === 'late') this.#uncounted.late++;
    else if (met !== undefined) this.#tell(running, group, met, fired);
  }

  #tell(running: Running, group: Group, met: Met, fired: Fired[]): void {
    const { linked } = running;
    const events =
      met.found === undefined ? [] : eventsWithin(group.samples, met.end - running.plan.spanMs, met.end);
    if (linked.raises && met.how !== 'holds') {
      fired.push({
        correlation: linked.key,
        how: met.how,
        group: linked.document.groupBy.map((field, i) => ({ field, value: group.values[i]! })),
        timestamp: met.end,
        firstTimestamp: met.found!.first,
        count: met.found!.count,
        value: met.found!.value,
        events,
        ends: group.ends,
        rules: linked.rules.filter((_, i) => group.seen[i]! >= met.end - running.plan.spanMs),
      });
    }
    for (const outer of linked.outer) {
      if (outer.whileMet || met.how === 'begins')
        this.#take(this.#outerInput(linked, outer, group), met.end, fired);
    }
  }

  #outerInput(inner: LinkedCorrelation, outer: OuterFeed, group: Group): CorrelationInput {
    const value = ({ from, index }: Source): Value =>
      group[from === 'group' ? 'values' : 'carried'][index] ?? null;
    return {
      correlation: outer.correlation,
      rule: inner.key,
      timestamp: group.window.newest,
      group: outer.group.map(value),
      value: joinedValue(outer.value.map(value), this.#limits),
      carried: outer.carried.map(value),
      event: group.samples.at(-1)?.event,
      ends: group.ends,
    };
  }

  #bounded(value: Value): Value {
    return value === null ? null : boundedText(value, this.#limits.valueLength);
  }

  /** Where all groups together have grown too large, those of the correlation with most of it go. */
  #makeRoom(): void {
    while (this.#room.units > this.#limits.units) {
      const all = [...this.#running.values()].map(({ groups }) => groups);
      const largest = all.reduce((a, b) => (b.units > a.units ? b : a));
      if (largest.size < 2) return;
      largest.forgetOldest();
    }
  }
}

function run(linked: LinkedCorrelation, limits: CorrelationLimits, room: Room): Running {
  const plan = planOf(linked, limits);
  const places = new Map(linked.rules.map((rule, i) => [rule, i]));
  return { linked, plan, places, groups: new Groups(plan, places.size, limits.groups, room) };
}
