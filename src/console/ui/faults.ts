import { ServiceError } from '../../errors.ts';

/** Maps errors of the service to the form fields that they concern. */

interface FieldFault {
  readonly field: string;
  readonly reason: string;
}

function fieldFault(error: unknown): FieldFault | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { field, reason } = error.details ?? {};
  return typeof field === 'string' && typeof reason === 'string' ? { field, reason } : undefined;
}

/**
 * Returns the error of `field` or of a part of the field: the error of `matcher.src_ip.2` is shown at `matcher.src_ip`,
 * as the error of the third value.
 */
export function faultAt(error: unknown, field: string): string | undefined {
  const fault = fieldFault(error);
  if (fault === undefined) return undefined;
  if (fault.field === field) return capital(fault.reason);
  if (!fault.field.startsWith(`${field}.`)) return undefined;
  const within = fault.field.slice(field.length + 1);
  const where = /^\d+$/.test(within) ? `Value ${Number(within) + 1}` : capital(within);
  return `${where}: ${fault.reason}`;
}

const versionMismatch =
  'Someone else changed this. The current version is shown behind this dialog; submit again to apply your change.';

/**
 * Returns the error if it does not concern any of these fields.
 *
 * @param conflict - text for an item that another user has changed since it was read
 */
export function faultElsewhere(
  error: unknown,
  fields: readonly string[],
  conflict: string = versionMismatch,
): string | undefined {
  if (error === undefined || fields.some((field) => faultAt(error, field) !== undefined)) return undefined;
  if (error instanceof ServiceError && error.code === 'VERSION_MISMATCH') return conflict;
  return capital(error instanceof Error ? error.message : String(error));
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
