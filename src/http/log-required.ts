import { ServiceError } from '../errors.ts';
import type { Services } from './services.ts';

/**
 * Throws UNAVAILABLE while the transparency log accepts no entries. Must be called before a change that must
 * be logged. Sensors' findings and session changes are not refused but wait in the outbox, because users must
 * be able to sign in and see the cause.
 */
export async function requireLog({ ledger }: Pick<Services, 'ledger'>): Promise<void> {
  const { health } = await ledger.status();
  if (health.state === 'degraded')
    throw new ServiceError('UNAVAILABLE', health.advice, { reason: `log_${health.fault}` });
}
