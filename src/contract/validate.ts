import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TObject, TSchema } from 'typebox';
import { errorCodes, invalidField, type ServiceError } from '../errors.ts';
import { type ClientMessage, clientMessages, serverMessages } from './channels.ts';
import { ErrorEnvelope } from './envelopes.ts';
import { formats } from './formats.ts';
import { shorten } from './query.ts';
import { errorsOf, type OperationId, type Route, routeOf } from './routes.ts';

/** `ownProperties`: a field is what the value itself has, whatever a prototype was made to say. */
const ajv = new Ajv2020({
  strict: true,
  ownProperties: true,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { test }]) => [name, test])),
});

/** Each schema is compiled once, on its first use: the process starts without waiting for all of them. */
const compiled = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: TSchema): ValidateFunction {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = ajv.compile(schema);
    compiled.set(schema, validator);
  }
  return validator;
}

/** The type of the JSON body that a route takes. */
export type BodyOf<R extends Pick<Route, 'body'>> = R['body'] extends {
  kind: 'json';
  schema: infer S extends TSchema;
}
  ? Static<S>
  : never;

/**
 * Checks the JSON body of a request.
 *
 * @throws INVALID_REQUEST with `field` (a dotted path, `body` for the whole) and `reason`.
 */
export function validateBody<R extends Pick<Route, 'body'>>(route: R, value: unknown): BodyOf<R> {
  if (route.body?.kind !== 'json') throw new Error('this operation takes no JSON body');
  const { schema, resource } = route.body;
  return validate(schema, value, 'body', resource) as BodyOf<R>;
}

/**
 * Checks a value against a schema of the contract.
 *
 * @param whole - names the value itself in errors
 * @param resource - what the value changes: its other fields are read-only rather than unknown
 * @throws INVALID_REQUEST with `field` (a dotted path) and `reason`.
 */
export function validate<S extends TSchema>(
  schema: S,
  value: unknown,
  whole = 'body',
  resource?: TObject,
): Static<S> {
  const validator = validatorOf(schema);
  if (!validator(value)) throw explain(validator.errors![0]!, whole, resource);
  return value as Static<S>;
}

/**
 * Checks a message of a WebSocket client.
 *
 * @throws INVALID_REQUEST like `validateBody`; `message` names the whole.
 */
export function validateClientMessage(value: unknown): ClientMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField('message', 'must be a JSON object');
  const type: unknown = Object.hasOwn(value, 'type') ? (value as { type: unknown }).type : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(clientMessages, type))
    throw invalidField('type', `must be one of ${Object.keys(clientMessages).join(', ')}`);
  const message = validate<TSchema>(
    clientMessages[type as ClientMessage['type']],
    value,
    'message',
  ) as ClientMessage;
  if (message.type === 'unsubscribe' && message.channel === undefined && message.id === undefined)
    throw invalidField('channel', 'is required, or id instead');
  return message;
}

/** The first problem that the validator met, in the specification's form. */
function explain(error: ErrorObject, whole: string, resource?: TObject): ServiceError {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const field = (name?: string) => {
    const names = name === undefined ? path : [...path, name];
    return names.length === 0 ? whole : shorten(names.join('.'));
  };
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return invalidField(field(params.missingProperty), 'is required');
    case 'additionalProperties': {
      const name: string = params.additionalProperty;
      const readOnly =
        path.length === 0 && resource !== undefined && Object.hasOwn(resource.properties, name);
      return invalidField(field(name), readOnly ? 'is read-only' : 'is not a known field');
    }
    case 'type':
      return invalidField(field(), `must be ${typeNames[params.type as keyof typeof typeNames]}`);
    case 'enum':
      return invalidField(field(), `must be one of ${params.allowedValues.join(', ')}`);
    case 'const':
      return invalidField(field(), `must be ${JSON.stringify(params.allowedValue)}`);
    case 'format':
      return invalidField(field(), formats[params.format as keyof typeof formats].reason);
    case 'minLength':
      return invalidField(
        field(),
        params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`,
      );
    case 'maxLength':
      return invalidField(field(), `must have at most ${params.limit} characters`);
    case 'minItems':
      return invalidField(field(), `must have at least ${params.limit} items`);
    case 'maxItems':
      return invalidField(field(), `must have at most ${params.limit} items`);
    case 'minimum':
      return invalidField(field(), `must be at least ${params.limit}`);
    case 'maximum':
      return invalidField(field(), `must be at most ${params.limit}`);
    default:
      return invalidField(field(), error.message ?? 'is not valid');
  }
}

const typeNames = {
  object: 'a JSON object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

/**
 * Checks an answer against the contract, for tests: the status is one that the operation can have, and the body is
 * exactly what the schema says.
 *
 * @throws Error that names the operation, the status and the first difference.
 */
export function assertResponse(operation: OperationId, status: number, body: unknown): void {
  const route = routeOf(operation);
  const where = `${operation} answered ${status}`;
  const response = route.responses[status];
  if (response?.kind === 'none') {
    if (body !== undefined && body !== '') throw new Error(`${where}: wanted no body`);
    return;
  }
  if (response?.kind === 'bytes') {
    if (!(body instanceof Uint8Array)) throw new Error(`${where}: wanted bytes, got ${typeof body}`);
    return;
  }
  if (response?.kind === 'text') {
    if (typeof body !== 'string') throw new Error(`${where}: wanted text, got ${typeof body}`);
    return;
  }
  if (response !== undefined) {
    const mismatch = difference(response.schema, body);
    if (mismatch === undefined) return;
    const isError = errorsOf(route).some((code) => errorCodes[code].status === status);
    if (!isError || difference(ErrorEnvelope, body) !== undefined) throw new Error(`${where}: ${mismatch}`);
    return;
  }
  const mismatch = difference(ErrorEnvelope, body);
  if (mismatch !== undefined) throw new Error(`${where}: ${mismatch}`);
  const { code } = (body as ErrorEnvelope).error;
  if (errorCodes[code].status !== status)
    throw new Error(`${where}: ${code} belongs to ${errorCodes[code].status}`);
  if (!errorsOf(route).includes(code)) throw new Error(`${where}: ${code} is not among its errors`);
}

/** Checks a message of the service to a WebSocket client, for tests. */
export function assertServerMessage(value: unknown): void {
  const type = (value as { type?: unknown } | null)?.type;
  if (typeof type !== 'string' || !Object.hasOwn(serverMessages, type))
    throw new Error(`unknown message type ${String(type)}`);
  const mismatch = difference(serverMessages[type as keyof typeof serverMessages], value);
  if (mismatch !== undefined) throw new Error(`${type}: ${mismatch}`);
}

function difference(schema: TSchema, value: unknown): string | undefined {
  const validator = validatorOf(schema);
  if (validator(value)) return undefined;
  const { instancePath, message, params } = validator.errors![0]!;
  return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
}
