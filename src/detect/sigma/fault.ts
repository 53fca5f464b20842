/**
 * The reason why a rule, or a part of it, cannot be used. Callers that know the field catch the error and use its
 * message as the reason.
 */
export class RuleError extends Error {
  override readonly name = 'RuleError';
}

export function refuse(reason: string): never {
  throw new RuleError(reason);
}

/** Returns the result, or the reason of a RuleError. */
export function reasonOr<T>(work: () => T): T | { readonly reason: string } {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    return { reason: error.message };
  }
}

/** Quotes a value of a rule for a message. Long values are truncated. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`.toWellFormed();
}
