/** The parts of an OpenAPI 3.1 document that the page shows. */
export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly 'x-roles'?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

/** An operation with its method and path. */
export interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Returns the operations that contain every word of `text`, in the order of the document. */
export function matching({ paths }: OpenApi, text: string): Placed[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { operationId, summary, tags }]) => {
        const searchText = `${method} ${path} ${operationId} ${summary} ${tags.join(' ')}`.toLowerCase();
        return words.every((word) => searchText.includes(word));
      })
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Returns the name of the component that a schema refers to. */
export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1);

/** Describes the values of a schema: `string (uuid), 1–200 long`, `array of Alert`. */
export function kindOf(schema: Schema): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => String(value)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindOf).join(' | ');
  if (schema.type === 'array')
    return `array of ${schema.items === undefined ? 'anything' : kindOf(schema.items)}${atMost(schema.maxItems)}`;
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'anything'}${format}${bounds(schema)}`;
}

const atMost = (most: number | undefined): string => (most === undefined ? '' : `, at most ${most}`);

function bounds({ minimum, maximum, minLength, maxLength }: Schema): string {
  const span = (from: number | undefined, to: number | undefined): string =>
    to === undefined || to === Number.MAX_SAFE_INTEGER
      ? from === undefined || from === 0
        ? ''
        : `, from ${from}`
      : `, ${from ?? 0} to ${to}`;
  if (minLength !== undefined || maxLength !== undefined) {
    const length = span(minLength, maxLength);
    return length === '' ? '' : `${length} long`;
  }
  return span(minimum, maximum);
}
