import type { TSchema } from 'typebox';
import type { ArrowColumn, ArrowKind } from '../analytics/arrow/columns.ts';

/** The parts of a JSON schema that determine the kind of a column. */
interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Shape };
}

/** Returns the Arrow columns of a list: `id`, then the attributes in the order of the item schema. */
export function arrowColumns(item: TSchema): ArrowColumn[] {
  const { properties = {}, required = [] } = (item as Shape).properties?.attributes ?? {};
  return [
    { name: 'id', kind: 'text', nullable: false },
    ...Object.entries(properties).map(([name, shape]) => ({
      name,
      kind: kindOf(shape),
      nullable: !required.includes(name),
    })),
  ];
}

/** Returns the kind of a column. The kind is JSON for values without a matching kind, such as objects. */
function kindOf(shape: Shape): ArrowKind {
  switch (shape.type) {
    case 'string':
      return textKind(shape);
    case 'integer':
      return integerKind(shape);
    case 'number':
      return 'real';
    case 'boolean':
      return 'flag';
    case 'array':
      return shape.items?.type === 'string' ? 'texts' : 'json';
    default:
      return 'json';
  }
}

/**
 * Returns the kind of a text column. Addresses and enumerated values repeat on a page, so they get a
 * dictionary.
 */
function textKind({ format, enum: words }: Shape): ArrowKind {
  if (format === 'date-time') return 'time';
  return format === 'ip' || words !== undefined ? 'word' : 'text';
}

const unsigned = [
  ['uint8', 2 ** 8],
  ['uint16', 2 ** 16],
  ['uint32', 2 ** 32],
] as const;

/** Returns the narrowest unsigned type that can hold all values within the bounds; otherwise `int64`. */
function integerKind({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Shape): ArrowKind {
  const fitting = minimum < 0 ? undefined : unsigned.find(([, end]) => maximum < end);
  return fitting === undefined ? 'int64' : fitting[0];
}
