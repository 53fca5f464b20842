import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { severities } from '../vocabulary.ts';
import { oneOf } from './common.ts';

// Schemas of resource fields. The description is shown in the OpenAPI document and names the unit, if any.

/** Returns the schema of a UUID. */
export const uuid = (description: string) => Type.String({ format: 'uuid', description });
/** Returns the schema of a time: ISO 8601 UTC with milliseconds, as `Date.prototype.toISOString` writes it. */
export const timestamp = (description: string) => Type.String({ format: 'date-time', description });
/** Returns the schema of an IPv4 or IPv6 address in text form. */
export const address = (description: string) => Type.String({ format: 'ip', description });
/** Returns the schema of a unicast MAC address, in any common notation. */
export const mac = (description: string) => Type.String({ format: 'mac', description });
/** Returns the schema of an IP address or a CIDR block. */
export const network = (description: string) => Type.String({ format: 'network', description });
export const hostname = (description: string) => Type.String({ format: 'hostname', description });
/** Returns the schema of an IP or a MAC address. */
export const identifier = (description: string) => Type.String({ format: 'identifier', description });
export const text = (description: string, limits: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ description, ...limits });
/** Returns the schema of a text without control characters. */
export const line = (description: string, limits: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ format: 'line', description, ...limits });
/** Returns the schema of a text without control characters other than line endings and tabs. */
export const lines = (description: string, limits: { maxLength?: number } = {}) =>
  Type.String({ format: 'lines', description, ...limits });
/** Returns the schema of a whole number from 0 to 2^53 − 1. */
export const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
/** Returns the schema of a whole number of at least 1, such as a version or page number. */
export const ordinal = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
export const between = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });
export const real = (description: string, limits: { minimum?: number; maximum?: number } = {}) =>
  Type.Number({ description, ...limits });
export const flag = (description: string) => Type.Boolean({ description });
/** Returns the schema of a field in a change, in which null removes the stored value. */
export const removable = <T extends TSchema & { readonly type: string; readonly description?: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [schema.type, 'null'],
    description: `${schema.description} Null removes the value.`,
  });
/** Returns the schema of a SHA-256 or Merkle hash: lowercase hexadecimal, 32 bytes. */
export const hex32 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
/** Returns the schema of an Ed25519 signature: lowercase hexadecimal, 64 bytes. */
export const hex64 = (description: string) => Type.String({ pattern: '^[0-9a-f]{128}$', description });
export const list = <T extends Parameters<typeof Type.Array>[0]>(
  items: T,
  description: string,
  limits: { minItems?: number; maxItems?: number; uniqueItems?: boolean } = {},
) => Type.Array(items, { description, ...limits });
/** Returns the schema of a JSON object whose keys the contract does not define. */
export const anyObject = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, description });
export const severity = (description: string) => oneOf(severities, description);

/**
 * Returns the schema of an object with exactly these fields. The `title` is the name of its component in the OpenAPI
 * document and must be unique.
 */
export const shape = <P extends TProperties>(title: string, properties: P): TObject<P> =>
  Type.Object(properties, { title, additionalProperties: false });
/** Returns a schema like `shape`, but inline and without a name. */
export const part = <P extends TProperties>(description: string, properties: P): TObject<P> =>
  Type.Object(properties, { description, additionalProperties: false });
/** Returns the schema of the parameters of a path, a query or the headers: exactly these. */
export const parameters = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });

export const optional = Type.Optional;
