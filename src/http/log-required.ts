import { ServiceError } from '../errors.ts';
import type { Services } from './services.ts';

/**
 * For a change that must be logged: UNAVAILABLE while the transparency log takes nothing. What sensors raise, and what
 * begins or ends a session, isn't refused but waits in the outbox: people must be able to sign in and see what is wrong.
 */
export async function requireLog({ ledger }: Pick<Services, 'ledger'>): Promise<void> {
  const { health } = await ledger.status();
  if (health.state === 'degraded')
    throw new ServiceError('UNAVAILABLE', health.advice, { reason: `log_${health.fault}` });
}
