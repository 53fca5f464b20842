import { ServiceError } from '../../../../errors.ts';

/** What the service says is wrong with what was given, told at the place where it was given; pure. */

interface FieldFault {
  readonly field: string;
  readonly reason: string;
}

function fieldFault(error: unknown): FieldFault | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { field, reason } = error.details ?? {};
  return typeof field === 'string' && typeof reason === 'string' ? { field, reason } : undefined;
}

/** Why `field` is refused, or something in it: `matcher.src_ip.2` is said at `matcher.src_ip`, as of its third value. */
export function faultAt(error: unknown, field: string): string | undefined {
  const fault = fieldFault(error);
  if (fault === undefined) return undefined;
  if (fault.field === field) return capital(fault.reason);
  if (!fault.field.startsWith(`${field}.`)) return undefined;
  const within = fault.field.slice(field.length + 1);
  const where = /^\d+$/.test(within) ? `Value ${Number(within) + 1}` : capital(within);
  return `${where}: ${fault.reason}`;
}

/** What is said of the whole, as it is about none of these fields. */
export function faultElsewhere(error: unknown, fields: readonly string[]): string | undefined {
  if (error === undefined || fields.some((field) => faultAt(error, field) !== undefined)) return undefined;
  if (error instanceof ServiceError && error.code === 'VERSION_MISMATCH')
    return 'Somebody changed it meanwhile. It is shown behind this as it is now: do it again, if you still want it.';
  return capital(error instanceof Error ? error.message : String(error));
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
