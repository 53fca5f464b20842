import type { TSchema } from 'typebox';
import { serverMessages } from '../src/contract/channels.ts';
import { ErrorEnvelope } from '../src/contract/envelopes.ts';
import { errorsOf, type OperationId, routeOf } from '../src/contract/routes.ts';
import { validatorOf } from '../src/contract/validate.ts';
import { errorCodes } from '../src/errors.ts';

/**
 * Checks a response against the contract: the operation can return the status, and the body
 * matches the schema exactly. Errors in the format of an emulated service are only checked to be objects.
 *
 * @throws Error that names the operation, the status and the first difference.
 */
export function assertResponse(operation: OperationId, status: number, body: unknown): void {
  const route = routeOf(operation);
  const where = `${operation} answered ${status}`;
  const response = route.responses[status];
  if (response?.kind === 'none') {
    if (body !== undefined && body !== '') throw new Error(`${where}: expected no body`);
    return;
  }
  if (response?.kind === 'bytes') {
    if (!(body instanceof Uint8Array)) throw new Error(`${where}: expected bytes, got ${typeof body}`);
    return;
  }
  if (response?.kind === 'text') {
    if (typeof body !== 'string') throw new Error(`${where}: expected text, got ${typeof body}`);
    return;
  }
  if (response?.lines !== undefined && typeof body === 'string') {
    for (const line of body.split('\n').slice(0, -1)) {
      const mismatch = difference(response.lines, JSON.parse(line));
      if (mismatch !== undefined) throw new Error(`${where}: ${mismatch}`);
    }
    return;
  }
  if (response !== undefined) {
    const mismatch = difference(response.schema, body);
    if (mismatch === undefined) return;
    const isError = errorsOf(route).some((code) => errorCodes[code].status === status);
    if (!isError || difference(ErrorEnvelope, body) !== undefined) throw new Error(`${where}: ${mismatch}`);
    return;
  }
  if (route.protocol !== undefined) {
    if (typeof body !== 'object' || body === null) throw new Error(`${where}: expected an object`);
    return;
  }
  const mismatch = difference(ErrorEnvelope, body);
  if (mismatch !== undefined) throw new Error(`${where}: ${mismatch}`);
  const { code } = (body as ErrorEnvelope).error;
  if (errorCodes[code].status !== status) throw new Error(`${where}: ${code} needs status ${errorCodes[code].status}`);
  if (!errorsOf(route).includes(code)) throw new Error(`${where}: ${code} is not an error of this operation`);
}

/** Checks a server message to a WebSocket client. */
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
