/** Reads Arrow streams with apache-arrow, for comparison with the JSON of the same list. */
import { MessageReader, RecordBatchReader, type Schema, Type, type Vector } from 'apache-arrow';
import { type OperationId, routeOf } from '../../src/contract/routes.ts';

export interface ReadStream {
  readonly schema: Schema;
  /** The items of each record batch, without their type. */
  readonly batches: readonly { readonly id: string; readonly attributes: Record<string, unknown> }[][];
}

export function readArrow(operation: OperationId, bytes: Uint8Array): ReadStream {
  const reader = RecordBatchReader.from(bytes).open();
  const { schema } = reader;
  const batches: ReadStream['batches'][number][] = [];
  // For a stream without batches, the reader returns an empty batch.
  for (const batch of hasBatch(bytes) ? reader : []) {
    const columns = schema.fields.map(({ name, type }) => {
      const read = readers[type.typeId];
      if (read === undefined) throw new Error(`${name} is of type ${type}`);
      const isJson = !['string', undefined].includes(typeOf(operation, name));
      const vector = batch.getChild(name)!;
      return { name, at: (row: number) => read(vector, row, isJson) };
    });
    batches.push(
      Array.from({ length: batch.numRows }, (_, row) => {
        const given = columns.map(({ name, at }) => [name, at(row)] as const);
        const { id, ...attributes } = Object.fromEntries(given.filter(([, value]) => value !== null));
        return { id: id as string, attributes };
      }),
    );
  }
  return { schema, batches };
}

function hasBatch(bytes: Uint8Array): boolean {
  const messages = new MessageReader(bytes);
  for (const message of messages) {
    if (message.isRecordBatch()) return true;
    messages.readMessageBody(message.bodyLength);
  }
  return false;
}

/** Returns the JSON type that the contract gives an attribute. */
function typeOf(operation: OperationId, name: string): string | undefined {
  const answer = routeOf(operation).responses[200] as { readonly lines?: unknown } | undefined;
  const item = answer?.lines as { properties: { attributes: { properties: Record<string, object> } } };
  return (item.properties.attributes.properties[name] as { type?: string } | undefined)?.type;
}

const plain = (vector: Vector, row: number): unknown => vector.get(row);
const text = (vector: Vector, row: number, isJson: boolean): unknown => {
  const value: string | null = vector.get(row);
  return isJson && value !== null ? JSON.parse(value) : value;
};

const readers: { readonly [type: number]: (vector: Vector, row: number, isJson: boolean) => unknown } = {
  [Type.Utf8]: text,
  [Type.Dictionary]: plain,
  [Type.Bool]: plain,
  [Type.Float]: plain,
  [Type.Int]: (vector, row) => {
    const value: number | bigint | null = vector.get(row);
    return typeof value === 'bigint' ? Number(value) : value;
  },
  [Type.Timestamp]: (vector, row) => {
    const value: number | null = vector.get(row);
    return value === null ? null : new Date(value).toISOString();
  },
  [Type.List]: (vector, row) => {
    const list: Vector | null = vector.get(row);
    return list === null ? null : [...list];
  },
};
