/** Why a rule, or a part of it, cannot be used: caught where it is known which field it is of. Its message is a reason. */
export class SigmaFault extends Error {
  override readonly name = 'SigmaFault';
}

export function refuse(reason: string): never {
  throw new SigmaFault(reason);
}

/** The result, or the reason for which there is none. */
export function reasonOr<T>(work: () => T): T | { readonly reason: string } {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SigmaFault)) throw error;
    return { reason: error.message };
  }
}

/** What a message may show of a value that came with a rule. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`.toWellFormed();
}
