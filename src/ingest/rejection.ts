/**
 * Why one record is refused: thrown by the readers, caught once per record in parse-body.ts, never beyond it.
 * Not an Error, because capturing a stack costs more than parsing the line, and a body may hold 100,000 bad ones.
 */
export class Rejection {
  /** The sensor's own name of the field (`id.orig_h`), or `line` where the record as a whole is unreadable. */
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

/** A value as reasons name it: short, whatever came. */
export function named(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value).toWellFormed();
  }
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
