import type { TSchema } from 'typebox';
import type { ArrowColumn, ArrowKind } from '../analytics/arrow-columns.ts';

/** What is looked at of a JSON schema. */
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

/** The columns of a list in Arrow: `id`, and the attributes as the schema of its items names them, in its order. */
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

/** What has no column of its own kind, such as objects, is JSON. */
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

/** Of addresses and of the contract's words there are few on a page. */
function textKind({ format, enum: words }: Shape): ArrowKind {
  if (format === 'date-time') return 'time';
  return format === 'ip' || words !== undefined ? 'word' : 'text';
}

const unsigned = [
  ['uint8', 2 ** 8],
  ['uint16', 2 ** 16],
  ['uint32', 2 ** 32],
] as const;

/** The narrowest that the bounds fit into. */
function integerKind({
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
}: Shape): ArrowKind {
  const fitting = minimum < 0 ? undefined : unsigned.find(([, end]) => maximum < end);
  return fitting === undefined ? 'int64' : fitting[0];
}
