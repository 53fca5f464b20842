import { type Static, type TSchema, Type } from 'typebox';

/**
 * Returns the schema of a string enumeration: an `enum` in JSON Schema and OpenAPI, a union in TypeScript.
 */
export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });

export type { Static, TSchema };
