/**
 * The reason why one record is rejected. Readers throw a Rejection, which is caught once per record. The class
 * is not an Error, because capturing a stack takes longer than parsing the line, and a body may contain 100,000
 * bad records.
 */
export class Rejection {
  /** The sensor's own name of the field (`id.orig_h`), or `line` if the record as a whole is unreadable. */
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    this.field = field;
    this.reason = reason;
  }
}

export function reject(field: string, reason: string): never {
  throw new Rejection(field, reason);
}

/** Describes a value briefly, for the reason of a rejection. */
export function named(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value).toWellFormed();
  }
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
