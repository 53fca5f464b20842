import { boundedText, type CorrelationInput, joinedValue, type Value } from './correlation-input.ts';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import { type CorrelatorState, groupState, restoredGroup, stateVersion } from './correlator-state.ts';
import type { Fired } from './fired.ts';
import type { Episode, Group } from './group.ts';
import { Groups, type Room } from './groups.ts';
import type { LinkedCorrelation, Source } from './linked.ts';
import { type Plan, planOf } from './plan.ts';
import { eventsWithin } from './samples.ts';

/** Inputs that a correlator ignored or counted with a different time, and groups that it dropped. */
export interface CorrelatorCounters {
  /** Inputs that are older than allowed for their group. */
  readonly late: number;
  /** Inputs that are too far ahead of the clock. Such inputs are counted with the current time. */
  readonly ahead: number;
  /** Inputs that have no value in any of the fields to group by. */
  readonly ungrouped: number;
  /** Inputs that lack the counted value. */
  readonly valueless: number;
  /** Inputs of unknown correlations or rules, for example after a change of the rules. */
  readonly unknown: number;
  /** Groups that were dropped to make room while they could still have met their condition. */
  readonly forgotten: number;
}

interface TimedInput {
  readonly input: CorrelationInput;
  readonly time: number;
}

interface Running {
  readonly linked: LinkedCorrelation;
  readonly plan: Plan;
  readonly places: ReadonlyMap<string, number>;
  readonly groups: Groups;
  /** Inputs of the batch. */
  waiting: TimedInput[];
}

/**
 * Runs correlations over the matches of their rules, in event time. All state comes from inputs; the owner passes the
 * current time.
 *
 * - **Windows.** An input triggers its group if a window of the length of the timespan (both ends included)
 *   that contains the input meets the condition. Bounds such as `lt` and `eq`, and `not` in a condition, are
 *   therefore evaluated only when an input arrives: the absence of inputs is never detected.
 * - **Episodes.** Windows that end at most a timespan after each other are one episode. An episode is reported when it
 *   begins, and `refresh` reports its new figures (`count` and `value` in `Fired`) as the episode grows. If more inputs
 *   never stop the condition from being met, episodes and their figures do not depend on the order of inputs.
 * - **Order.** Inputs of one call are sorted by time. Across calls, an input counts if it is at most `reachMs` older
 *   than the newest input of its group. Other groups do not matter, so inputs of a delayed sensor, or of a file that is
 *   read later, do not count as late because other sensors are ahead.
 * - **Groups.** A missing value counts as the value `null` if another field of the group has a value. An input without
 *   any group values cannot be attributed to a host or user, and is not counted. Values are compared unchanged,
 *   case-sensitively.
 * - **Chains.** The result of a correlation is an input of the correlations that name it. A temporal correlation
 *   creates an input for the end of each window that meets its condition; the other types create an input for the
 *   beginning of each episode.
 * - **Room.** The groups of a correlation, the inputs of a group and the total memory are limited. Under memory
 *   pressure, groups keep only the inputs needed for their conditions; then the least recently used groups are dropped.
 */
export class Correlator {
  readonly #uncounted = { late: 0, ahead: 0, ungrouped: 0, valueless: 0, unknown: 0 };
  readonly #room: Room;
  readonly #running: ReadonlyMap<string, Running>;
  readonly #limits: CorrelationLimits;
  /** Groups with episodes that changed since their last report; the longest waiting group is first. */
  readonly #growing = new Map<Group, Running>();

  /** @param correlations - made by `linkCorrelations` */
  constructor(correlations: readonly LinkedCorrelation[], limits: CorrelationLimits = correlationLimits) {
    this.#limits = limits;
    this.#room = { units: 0, most: limits.units };
    this.#running = new Map(correlations.map((linked) => [linked.key, run(linked, limits, this.#room)]));
  }

  /** Counts since the correlator was created. */
  get counters(): CorrelatorCounters {
    let forgotten = 0;
    for (const { groups } of this.#running.values()) forgotten += groups.forgotten;
    return { ...this.#uncounted, forgotten };
  }

  /** Number of groups. */
  get size(): number {
    let size = 0;
    for (const { groups } of this.#running.values()) size += groups.size;
    return size;
  }

  /** Number of groups for which `refresh` has a report. */
  get growing(): number {
    return this.#growing.size;
  }

  /**
   * Processes inputs, in the order of their commit, and reports new episodes and episodes that were joined.
   *
   * @param nowMs - the owner's clock
   */
  take(inputs: readonly CorrelationInput[], nowMs: number): Fired[] {
    const fired: Fired[] = [];
    for (const { groups } of this.#running.values()) groups.forgetAfter(nowMs + this.#limits.leadMs);
    for (const input of inputs) this.#receive(input, this.#time(input.timestamp, nowMs));
    // Each correlation runs after the correlations that it names.
    for (const running of this.#running.values()) this.#run(running, fired);
    return fired;
  }

  /**
   * Reports the figures of episodes that grew.
   *
   * @param most - maximum number of groups
   */
  refresh(most = Number.POSITIVE_INFINITY): Fired[] {
    const fired: Fired[] = [];
    let left = most;
    for (const [group, running] of this.#growing) {
      if (left-- <= 0) break;
      this.#report(running, group, true, fired);
    }
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
   * Restores a state. Must be called before the first input. The state of correlations that were removed or changed is
   * dropped.
   *
   * @returns how many correlations of the state were kept and dropped
   */
  restore(state: CorrelatorState): { kept: number; dropped: number } {
    let kept = 0;
    if (state.version === stateVersion || state.version === 1) {
      for (const { key, hash, clock, groups } of state.correlations) {
        const running = this.#running.get(key);
        if (running?.linked.hash !== hash) continue;
        kept++;
        running.groups.clock = clock ?? -Infinity;
        for (const one of groups) {
          const group = restoredGroup(one, running.plan);
          running.groups.put(group);
          if (group.changed.length > 0) this.#growing.set(group, running);
        }
      }
    }
    return { kept, dropped: state.correlations.length - kept };
  }

  /**
   * Returns the time of an input. An input ahead of the owner's clock counts with the current time. With its own time,
   * the input would make inputs of sensors with correct clocks count as late. Small leads are common and not counted.
   */
  #time(timestamp: number, nowMs: number): number {
    if (timestamp <= nowMs) return timestamp;
    if (!(timestamp <= nowMs + this.#limits.leadMs)) this.#uncounted.ahead++;
    return nowMs;
  }

  #receive(input: CorrelationInput, time: number): void {
    const running = this.#running.get(input.correlation);
    if (running === undefined) this.#uncounted.unknown++;
    else running.waiting.push({ input, time });
  }

  #run(running: Running, fired: Fired[]): void {
    const { groups, waiting } = running;
    running.waiting = [];
    const touched = new Set<Group>();
    for (const one of waiting.sort((a, b) => a.time - b.time)) {
      const group = this.#take(running, one);
      if (group !== undefined) touched.add(group);
    }
    for (const group of touched) {
      group.settle();
      this.#feedHolds(running, group);
      if (group.changed.length > 0) this.#report(running, group, false, fired);
    }
    for (const group of groups.gone) {
      this.#feedHolds(running, group);
      this.#report(running, group, true, fired);
    }
    groups.gone = [];
  }

  /** @returns the group of the input, even if the input is late; undefined if the input does not belong to a group */
  #take(running: Running, { input, time }: TimedInput): Group | undefined {
    const { plan, places, groups, linked } = running;
    const rule = places.get(input.rule);
    if (rule === undefined || input.group.length !== linked.document.groupBy.length) {
      this.#uncounted.unknown++;
      return;
    }
    const counted = plan.counted(this.#bounded(input.value), rule);
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
    const group = groups.at(values, time);
    const { event, ends } = input;
    const isTaken = group.take({ time, rule, counted, event, ends, carried });
    groups.weigh(group);
    this.#makeRoom();
    if (!isTaken) this.#uncounted.late++;
    this.#feedHolds(running, group);
    return group;
  }

  /** @param always - true to also report episodes that only grew */
  #report(running: Running, group: Group, always: boolean, fired: Fired[]): void {
    // A new episode may join the alert of an earlier episode, whose final figures must be reported first.
    const grown = always || group.changed.some(({ told }) => told === 0);
    if (grown) group.complete();
    const left: Episode[] = [];
    for (const episode of group.changed) {
      const { told } = episode;
      if (told === 1 && !grown) {
        left.push(episode);
        continue;
      }
      episode.told = 1;
      episode.stale = false;
      const how = told === 0 ? 'begins' : told === 1 ? 'grows' : 'joins';
      if (running.linked.raises) fired.push(this.#fired(running, group, episode, how, told));
      if (how === 'begins') this.#feed(running, group, episode.from, false);
    }
    group.changed = left;
    if (left.length === 0) this.#growing.delete(group);
    else if (!this.#growing.has(group)) this.#growing.set(group, running);
  }

  #fired({ linked, plan }: Running, group: Group, episode: Episode, how: Fired['how'], told: number): Fired {
    const { first, to, count, value, atLeast } = episode;
    return {
      correlation: linked.key,
      how,
      joined: Math.max(0, told - 1),
      group: linked.document.groupBy.map((field, i) => ({ field, value: group.values[i]! })),
      timestamp: to,
      firstTimestamp: first,
      count,
      value,
      atLeast: atLeast && plan.monotone,
      events: eventsWithin(group.samples, first, to),
      ...group.originOf(first, to, { ends: episode.ends, senders: episode.senders }),
    };
  }

  #feedHolds(running: Running, group: Group): void {
    if (group.newHolds.length === 0) return;
    for (const end of group.newHolds) this.#feed(running, group, end, true);
    group.newHolds = [];
  }

  /** Passes the window that ends at `end` to the outer correlations. */
  #feed({ linked, plan }: Running, group: Group, end: number, whileMet: boolean): void {
    const value = ({ from, index }: Source): Value => group[from === 'group' ? 'values' : 'carried'][index] ?? null;
    for (const outer of linked.outer) {
      if (outer.whileMet !== whileMet) continue;
      const input = {
        correlation: outer.correlation,
        rule: linked.key,
        timestamp: end,
        group: outer.group.map(value),
        value: joinedValue(outer.value.map(value), this.#limits),
        carried: outer.carried.map(value),
        event: group.samples.at(-1)?.event,
        ends: group.originOf(end - plan.spanMs, end).ends,
      };
      this.#receive(input, end);
    }
  }

  #bounded(value: Value): Value {
    return value === null ? null : boundedText(value, this.#limits.valueLength);
  }

  /** Drops groups of the largest correlation until the total is within the limit. */
  #makeRoom(): void {
    while (this.#room.units > this.#limits.units) {
      const all = [...this.#running.values()].map(({ groups }) => groups);
      const largest = all.reduce((a, b) => (b.units > a.units ? b : a));
      if (largest.size < 2) return;
      largest.makeRoom();
    }
  }
}

function run(linked: LinkedCorrelation, limits: CorrelationLimits, room: Room): Running {
  const plan = planOf(linked, limits);
  const places = new Map(linked.rules.map((rule, i) => [rule, i]));
  return { linked, plan, places, groups: new Groups(plan, limits.groups, room), waiting: [] };
}
