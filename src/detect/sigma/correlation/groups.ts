import type { Value } from './correlation-input.ts';
import { Group } from './group.ts';
import type { Plan } from './plan.ts';

/** What a group counts as besides its entries and samples, in units of about 16 bytes: 500 bytes. */
const groupUnits = 32;
const entryUnits = 2;
/** Units of a sample, an episode or an origin. */
const noteUnits = 8;

/** What all groups of all correlations take, in those units. Its owner is the `Correlator`. */
export interface Room {
  units: number;
  readonly most: number;
}

/**
 * The groups of one correlation, those touched last at the end. A group is forgotten when the correlation has seen two
 * timespans pass since it was touched, or when there are too many and none was touched longer ago.
 */
export class Groups {
  /** Largest time seen. */
  clock = -Infinity;
  /** Of all groups. */
  units = 0;
  /** Groups that had to go while they could still have met the condition. */
  forgotten = 0;
  readonly #groups = new Map<string, Group>();
  /** Ends of the list in the order of touching. The order of a Map won't do: its first entry is behind all that were
   * deleted, which made a flood of groups take 80 µs each. */
  #oldest: Group | undefined;
  #newest: Group | undefined;
  /** Groups that were forgotten before all of their changes were reported. */
  gone: Group[] = [];
  /** Room is short: a group keeps what decides whether the condition is met, and its figures are lower bounds. */
  #isTight = false;
  readonly #plan: Plan;
  readonly #most: number;
  readonly #room: Room;

  /** @param most - groups */
  constructor(plan: Plan, most: number, room: Room) {
    this.#room = room;
    this.#plan = plan;
    this.#most = most;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** In the order in which they were touched. */
  *all(): Generator<Group> {
    for (let group = this.#oldest; group !== undefined; group = group.newer) yield group;
  }

  /** The group of these values at a time, which it is touched by. */
  at(values: readonly Value[], time: number): Group {
    if (time > this.clock) this.clock = time;
    this.#expire();
    const key = keyOf(values);
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size >= this.#most) this.forgetOldest();
      group = new Group(values, this.#plan, this.#plan.window());
      this.#groups.set(key, group);
    } else this.#unlink(group);
    this.#append(group);
    group.touched = this.clock;
    return group;
  }

  /** Notes what a group has become. */
  weigh(group: Group): void {
    const { enough } = this.#plan;
    if (this.#isTight && group.window.entries.length > 2 * enough) group.trim(enough);
    const { window, samples, episodes, origins, holds } = group;
    const notes = samples.length + episodes.length + origins.length;
    const units = groupUnits + entryUnits * window.entries.length + noteUnits * notes + holds.length;
    this.#grow(units - group.units);
    group.units = units;
  }

  /** Puts a group back that was kept elsewhere, as the last one. */
  put(group: Group): void {
    this.#groups.set(keyOf(group.values), group);
    this.#append(group);
    this.weigh(group);
  }

  /** Gives room back: by what groups keep beyond the needed first, then by the group touched longest ago. */
  makeRoom(): void {
    if (this.#isTight) this.forgetOldest();
    else {
      this.#isTight = true;
      for (const group of this.all()) this.weigh(group);
    }
  }

  forgetOldest(): void {
    const group = this.#oldest;
    if (group === undefined) return;
    this.#delete(group);
    if (group.window.newest >= this.clock - this.#plan.spanMs) this.forgotten++;
  }

  /**
   * Forgets groups that have inputs after a time: they came while the clock was ahead, and all that comes now would be
   * late for them.
   */
  forgetAfter(time: number): void {
    if (this.clock <= time) return;
    this.clock = time;
    for (const group of [...this.all()]) {
      if (group.window.newest > time) this.#delete(group);
      else group.touched = Math.min(group.touched, time);
    }
  }

  #expire(): void {
    if (this.#isTight && this.#room.units < this.#room.most / 2) this.#isTight = false;
    const since = this.clock - this.#plan.spanMs - this.#plan.reachMs;
    while (this.#oldest !== undefined && this.#oldest.touched < since) this.#delete(this.#oldest);
  }

  #delete(group: Group): void {
    this.#groups.delete(keyOf(group.values));
    this.#unlink(group);
    this.#grow(-group.units);
    group.complete();
    if (group.changed.length > 0 || group.newHolds.length > 0) this.gone.push(group);
  }

  #append(group: Group): void {
    group.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = group;
    else this.#newest.newer = group;
    this.#newest = group;
  }

  #unlink(group: Group): void {
    const { older, newer } = group;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    group.older = undefined;
    group.newer = undefined;
  }

  #grow(units: number): void {
    this.units += units;
    this.#room.units += units;
  }
}

function keyOf(values: readonly Value[]): string {
  return values.length === 1 ? (values[0] ?? '') : JSON.stringify(values);
}
