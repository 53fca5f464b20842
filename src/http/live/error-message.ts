import type { ServiceError } from '../../errors.ts';

/** An error as a socket is told it. `id` names the subscription that it is about. */
export function errorMessage({ code, message, details }: ServiceError, now: number, id?: string): string {
  return JSON.stringify({
    type: 'error',
    id,
    error: { code, message, details },
    timestamp: new Date(now).toISOString(),
  });
}
