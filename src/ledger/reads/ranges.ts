import { invalidField, type ServiceError } from '../../errors.ts';

/**
 * Returns the error for a parameter that is out of range in a log of `size` leaves. If `low` is above `high`, the log
 * is too small for any value.
 */
export function outOfRange(field: string, low: number, high: number, size: number): ServiceError {
  const leaves = `${size} ${size === 1 ? 'leaf' : 'leaves'}`;
  return invalidField(
    field,
    low > high
      ? `must be an integer of at least ${low}, for which the log of ${leaves} is too small`
      : `must be an integer from ${low} to ${high}; the log has ${leaves}`,
  );
}

/** Throws INVALID_REQUEST unless `low` ≤ value ≤ `high`. */
export function checkRange(field: string, value: number, low: number, high: number, size: number): void {
  if (!Number.isSafeInteger(value) || value < low || value > high) throw outOfRange(field, low, high, size);
}
