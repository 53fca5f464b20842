import type { JsonObject } from './fields.ts';
import type { LineValues } from './line-values.ts';
import { type Plan, positionOf } from './record-fields.ts';
import type { SourceFormat } from './record-reader.ts';
import type { Shape } from './shape.ts';
import { suricataPlan } from './suricata.ts';
import { zeekPlan } from './zeek.ts';

/** Maximum number of plans of a shape. The lines of a shape usually name only one log or type. */
const mostPlans = 16;

/** The plans for lines of one shape in bodies of one format. */
export class Plans {
  readonly source: SourceFormat | undefined;
  /** A record of the shape with positions instead of values. */
  readonly #record: JsonObject;
  readonly #isEve: boolean;
  /** Position of the text that names the log or the type; undefined if the lines are read as objects. */
  readonly #nameAt: number | undefined;
  readonly #byName = new Map<unknown, Plan | undefined>();

  constructor(shape: Shape, source: SourceFormat | undefined) {
    const record = shape.positions();
    this.source = source;
    this.#record = record;
    this.#isEve = source === 'suricata' || (source === undefined && record.event_type !== undefined);
    const isObjects = source === undefined ? record.type !== undefined : source !== 'zeek' && source !== 'suricata';
    const name = this.#isEve ? record.event_type : (record._path ?? record['@stream']);
    this.#nameAt = isObjects ? undefined : positionOf(name);
  }

  /** Returns the plan for the current line; undefined if its fields must be read from the object. */
  of(line: LineValues): Plan | undefined {
    if (this.#nameAt === undefined) return undefined;
    const name = line.value(this.#nameAt);
    const known = this.#byName.get(name);
    if (known !== undefined || this.#byName.has(name)) return known;
    if (this.#byName.size === mostPlans) this.#byName.clear();
    const plan = this.#isEve ? suricataPlan(this.#record, name) : zeekPlan(this.#record, name);
    this.#byName.set(name, plan);
    return plan;
  }
}

/**
 * Returns the plan for the current line, whose shape is `shape`; undefined if its fields must be read from the
 * object.
 */
export function planOf(shape: Shape, source: SourceFormat | undefined, line: LineValues): Plan | undefined {
  if (shape.plans?.source !== source || shape.plans === undefined) shape.plans = new Plans(shape, source);
  return shape.plans.of(line);
}
