import { isObject, type JsonObject } from './fields.ts';
import type { LineValues } from './line-values.ts';
import type { Plans } from './plans.ts';

/** The names in lines of equal shape, and the position of each value among the values of a line. */
export class Shape {
  readonly #example: JsonObject;
  readonly #positions: ReadonlyMap<string, number>;
  #record: JsonObject | undefined;
  /** Plans for the last format in which lines of the shape were read. */
  plans: Plans | undefined;

  /**
   * @param example - a record of the shape
   * @param positions - by the names of the objects and of the value, each name after a line feed
   */
  constructor(example: JsonObject, positions: ReadonlyMap<string, number>) {
    this.#example = example;
    this.#positions = positions;
  }

  /** Returns the object that has the values of the current line. */
  record(line: LineValues): JsonObject {
    this.#record ??= this.#copy(this.#example, '', (position) => ({ get: line.getter(position) }));
    return this.#record;
  }

  /** Returns a record with the position of each value, as a bigint, instead of the value. */
  positions(): JsonObject {
    return this.#copy(this.#example, '', (position) => ({ value: BigInt(position) }));
  }

  #copy(from: JsonObject, path: string, property: (position: number) => PropertyDescriptor): JsonObject {
    const copy = {};
    for (const name of Object.keys(from)) {
      const inner = from[name];
      const own = `${path}\n${name}`;
      const described = isObject(inner)
        ? { value: this.#copy(inner, own, property) }
        : property(this.#positions.get(own) as number);
      Object.defineProperty(copy, name, { ...described, enumerable: true });
    }
    return copy;
  }
}
