import { criticalEvent } from '../contract/critical-events.ts';
import { passwordLength } from '../contract/resources/principal.ts';
import { invalidField, ServiceError } from '../errors.ts';
import type { Store, StoreReader } from '../store/store.ts';
import type { Sources } from './identities.ts';
import { hashPassword, requireNewPassword } from './passwords.ts';

const system = { id: 'system', name: 'system' };

/**
 * Resets the password of a user on behalf of an operator with access to the data folder, and ends the
 * sessions of the user. The log entry is recorded first, so that an interrupted reset is logged rather than
 * hidden.
 *
 * @throws NOT_FOUND; INVALID_REQUEST for a password that is not acceptable; CONFLICT for a principal that is
 * not a user; UNAVAILABLE while the outbox is full
 */
export async function resetPassword(
  parts: {
    readonly reader: Pick<StoreReader, 'principalByName'>;
    readonly writer: Pick<Store, 'record' | 'changePrincipal'>;
    readonly sources: Sources;
  },
  name: string,
  password: string,
): Promise<void> {
  const principal = parts.reader.principalByName(name);
  if (principal === undefined) throw new ServiceError('NOT_FOUND', `there is no principal ${name}`);
  if (principal.kind !== 'user') throw new ServiceError('CONFLICT', `${name} is not a user`);
  const { minLength, maxLength } = passwordLength;
  if (password.length < minLength || password.length > maxLength)
    throw invalidField('password', `must have ${minLength} to ${maxLength} characters`);
  requireNewPassword('password', password, name);
  const password_hash = await hashPassword(password);
  await parts.writer.record(
    criticalEvent('principal.password_reset', principal.id, { name }, system.id),
    parts.sources.newId(),
  );
  await parts.writer.changePrincipal(principal.id, { password_hash }, system);
}
