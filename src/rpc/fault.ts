import { errorCodes, ServiceError } from '../errors.ts';
import type { Fault } from './wire.ts';

/**
 * Converts an error for another thread: a ServiceError to its code, message and details, any other error (a
 * bug) to its name, message and stack.
 */
export function toFault(error: unknown): Fault {
  if (error instanceof ServiceError) {
    return { kind: 'service', code: error.code, message: error.message, details: error.details };
  }
  if (error instanceof Error) {
    return { kind: 'bug', name: error.name, message: error.message, stack: error.stack };
  }
  return { kind: 'bug', name: 'Error', message: `thrown: ${String(error)}`, stack: undefined };
}

/**
 * Restores the error in the calling thread: a `ServiceError`, or an `Error` with the name and stack of the
 * bug.
 */
export function fromFault(fault: Fault): Error {
  if (fault.kind === 'service') return new ServiceError(fault.code, fault.message, fault.details);
  const error = new Error(fault.message);
  error.name = fault.name;
  if (fault.stack !== undefined) error.stack = fault.stack;
  return error;
}

/**
 * Restores the error of a worker thread's `error` event. Node has cloned the error: the clone has its own
 * properties but not its class.
 */
export function fromUncaught(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`thrown: ${String(error)}`);
  // Only the stack of a DOMException (such as a DataCloneError) is cloned; it begins with name and message.
  if (error.message === '') error.message = error.stack?.split('\n    at ', 1)[0] ?? '';
  if (error.name !== 'ServiceError' || !('code' in error)) return error;
  const { code, details } = error as Error & Pick<ServiceError, 'code' | 'details'>;
  return code in errorCodes ? new ServiceError(code, error.message, details) : error;
}
