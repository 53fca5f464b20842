import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject, TSchema } from 'typebox';
import { invalidField, type ServiceError } from '../errors.ts';
import { type ClientMessage, clientMessages } from './channels.ts';
import { formats } from './formats.ts';
import { nearestAdvice, shorten } from './query.ts';
import type { Route } from './routes.ts';

/** `ownProperties` ignores inherited properties, so a polluted prototype has no effect. */
const ajv = new Ajv2020({
  strict: true,
  // Evidence values may have several types.
  allowUnionTypes: true,
  // Errors include the schema, so that the error of an unknown field can name the known fields.
  verbose: true,
  ownProperties: true,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { test }]) => [name, test])),
});

/** Validators by schema, compiled on first use so that they do not delay the start of the process. */
const compiled = new WeakMap<object, ValidateFunction>();

export function validatorOf(schema: TSchema): ValidateFunction {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = ajv.compile(schema);
    compiled.set(schema, validator);
  }
  return validator;
}

/** The type of the JSON body of a route. */
export type BodyOf<R extends Pick<Route, 'body'>> = R['body'] extends {
  kind: 'json';
  schema: infer S extends TSchema;
}
  ? Static<S>
  : never;

/**
 * Checks the JSON body of a request.
 *
 * @throws INVALID_REQUEST with `field` (a dotted path, `body` for the whole body) and `reason`
 */
export function validateBody<R extends Pick<Route, 'body'>>(route: R, value: unknown): BodyOf<R> {
  if (route.body?.kind !== 'json') throw new Error('this operation does not accept a JSON body');
  const { schema, resource } = route.body;
  return validate(schema, value, 'body', resource) as BodyOf<R>;
}

/**
 * Checks a value against a schema of the contract.
 *
 * @param whole - name of the value itself in errors
 * @param resource - resource that the value changes: its other fields are reported as read-only rather than
 * unknown
 * @throws INVALID_REQUEST with `field` (a dotted path) and `reason`.
 */
export function validate<S extends TSchema>(schema: S, value: unknown, whole = 'body', resource?: TObject): Static<S> {
  const validator = validatorOf(schema);
  if (!validator(value)) throw explain(validator.errors![0]!, whole, resource);
  return value as Static<S>;
}

/**
 * Checks a message of a WebSocket client.
 *
 * @throws INVALID_REQUEST like `validateBody`; `message` is the name of the whole message
 */
export function validateClientMessage(value: unknown): ClientMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField('message', 'must be a JSON object');
  const type: unknown = Object.hasOwn(value, 'type') ? (value as { type: unknown }).type : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(clientMessages, type))
    throw invalidField('type', `must be one of ${Object.keys(clientMessages).join(', ')}`);
  const message = validate<TSchema>(clientMessages[type as ClientMessage['type']], value, 'message') as ClientMessage;
  if (message.type === 'unsubscribe' && message.channel === undefined && message.id === undefined)
    throw invalidField('channel', 'is required unless id is given');
  return message;
}

/** Converts the first error of the validator to the format of the specification. */
function explain(error: ErrorObject, whole: string, resource?: TObject): ServiceError {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const field = (name?: string) => {
    const names = name === undefined ? path : [...path, name];
    return names.length === 0 ? whole : shorten(names.join('.'));
  };
  const { params, keyword } = error;
  switch (keyword) {
    case 'required':
      return invalidField(field(params.missingProperty), 'is required');
    case 'additionalProperties': {
      const name: string = params.additionalProperty;
      const known = Object.keys((error.parentSchema?.properties as object | undefined) ?? {});
      const readOnly = path.length === 0 && resource !== undefined && Object.hasOwn(resource.properties, name);
      return invalidField(field(name), readOnly ? 'is read-only' : `is not a known field${nearestAdvice(name, known)}`);
    }
    case 'uniqueItems': {
      const [first, again] = [params.i, params.j].sort((a: number, b: number) => a - b);
      return invalidField(field(String(again)), `is the same as ${field(String(first))}`);
    }
    default:
      return invalidField(field(), reasons[keyword]?.(params) ?? 'does not match the schema');
  }
}

/**
 * Error messages by the keyword of the schema that the value violates. `explain` has the messages of three further
 * keywords.
 */
export const reasons: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name: TypeName) => typeNames[name])
      .join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues.join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  format: ({ format }) => formats[format as keyof typeof formats].reason,
  pattern: () => 'does not have the required format',
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`,
  maxItems: ({ limit }) => `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
};

type TypeName = keyof typeof typeNames;
const typeNames = {
  object: 'a JSON object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};
