import type { Value } from './correlation-input.ts';
import { Group } from './group.ts';
import type { Plan } from './plan.ts';

/** Size of a group without entries and samples, in units of about 16 bytes: 500 bytes. */
const groupUnits = 32;
const entryUnits = 2;
/** Size of a sample, an episode or an origin in units. */
const noteUnits = 8;

/** Total size of all groups of all correlations, in units of about 16 bytes. Owned by the `Correlator`. */
export interface Room {
  units: number;
  readonly most: number;
}

/**
 * The groups of one correlation, in the order in which they were last used. A group is dropped when the latest input of
 * the correlation is too new to share a window with the group. When there are too many groups, the least recently used
 * group is dropped.
 */
export class Groups {
  /** Latest input time. */
  clock = -Infinity;
  /** Total units of all groups. */
  units = 0;
  /**
   * Number of groups that were dropped while they could still have met the condition, possibly only with late
   * inputs.
   */
  forgotten = 0;
  readonly #groups = new Map<string, Group>();
  /**
   * The least recently used group. A Map is too slow for this list: its iteration skips all deleted entries before the
   * first entry, and this cost 80 µs for each group in a flood.
   */
  #oldest: Group | undefined;
  /** The most recently used group. */
  #newest: Group | undefined;
  /** Groups that were dropped before all of their changes were reported. */
  gone: Group[] = [];
  /**
   * True under memory pressure: groups keep only the inputs that decide whether the condition is met, and their figures
   * are lower bounds.
   */
  #isTight = false;
  readonly #plan: Plan;
  readonly #most: number;
  readonly #room: Room;

  /** @param most - maximum number of groups */
  constructor(plan: Plan, most: number, room: Room) {
    this.#room = room;
    this.#plan = plan;
    this.#most = most;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** Iterates over the groups, least recently used first. */
  *all(): Generator<Group> {
    for (let group = this.#oldest; group !== undefined; group = group.newer) yield group;
  }

  /**
   * Returns the group for an input with these values and this time, or creates the group. The group becomes the most
   * recently used.
   */
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

  /** Updates the size of a group. */
  weigh(group: Group): void {
    const { enough } = this.#plan;
    if (this.#isTight && group.window.entries.length > 2 * enough) group.trim(enough);
    const { window, samples, episodes, origins, holds } = group;
    const notes = samples.length + episodes.length + origins.length;
    const units = groupUnits + entryUnits * window.entries.length + noteUnits * notes + holds.length;
    this.#grow(units - group.units);
    group.units = units;
  }

  /** Adds a stored group as the newest group. */
  put(group: Group): void {
    this.#groups.set(keyOf(group.values), group);
    this.#append(group);
    this.weigh(group);
  }

  /** Frees room: first drops inputs that groups do not need, then the least recently used groups. */
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
    const { spanMs, reachMs } = this.#plan;
    if (group.window.newest >= this.clock - spanMs - reachMs) this.forgotten++;
  }

  /**
   * Drops groups with inputs after a time. These inputs were received while the clock was ahead, and would make all
   * current inputs count as late.
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
