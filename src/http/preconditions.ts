import type { ResourceType } from '../contract/resource-types.ts';
import { invalidField, ServiceError } from '../errors.ts';
import type { Services } from './services.ts';

/**
 * Returns the version in `If-Match: "<version>"` (RFC 9110, section 13.1.1); undefined if the header is absent or
 * accepts any version. Throws INVALID_REQUEST for all other values.
 */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const digits = /^\s*"([1-9][0-9]{0,14})"\s*$/.exec(header)?.[1];
  if (digits === undefined) throw invalidField('if-match', 'must be one version in quotes, such as "3"');
  return Number(digits);
}

/** Returns the value. Throws NOT_FOUND if it is undefined, because there is no resource with this id. */
export function found<T>(type: ResourceType, id: string, value: T | undefined): T {
  if (value === undefined) throw new ServiceError('NOT_FOUND', `there is no ${type} ${id}`);
  return value;
}

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
