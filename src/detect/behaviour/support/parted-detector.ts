import type { DropCounts } from '../detector.ts';

/** A part of a detector's state, such as a table of keys. */
interface Part {
  state(): unknown;
  restore(state: unknown): void;
  merge(state: unknown): void;
  readonly dropped?: DropCounts;
}

/** The states of all parts, by name. */
export type PartedState = Readonly<Record<string, unknown>>;

/** Base class of detectors whose state consists of several parts. Each part restores and merges its own state. */
export abstract class PartedDetector {
  /** The parts by their names in the state. */
  protected abstract readonly parts: Readonly<Record<string, Part>>;

  get dropped(): DropCounts {
    const counts = Object.values(this.parts).flatMap(({ dropped }) => dropped ?? []);
    const sum = (name: keyof DropCounts) => counts.reduce((all, one) => all + one[name], 0);
    return { late: sum('late'), forgotten: sum('forgotten'), stale: sum('stale') };
  }

  state(): PartedState {
    return Object.fromEntries(Object.entries(this.parts).map(([name, part]) => [name, part.state()]));
  }

  restore(state: PartedState): void {
    for (const [name, part] of Object.entries(this.parts)) part.restore(state[name]);
  }

  merge(state: PartedState): void {
    for (const [name, part] of Object.entries(this.parts)) part.merge(state[name]);
  }
}
