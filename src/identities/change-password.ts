import type { LoginThrottle } from '../admission/login-throttle.ts';
import type { PasswordInput } from '../contract/resources/session.ts';
import { invalidField, ServiceError } from '../errors.ts';
import type { Actor, PrincipalChanged } from '../store/store.ts';
import type { IdentityReader, IdentityWriter } from './identities.ts';
import { hashPassword, requireNewPassword, verifyPassword } from './passwords.ts';

export interface ChangePassword {
  /**
   * Replaces the password of the caller. The session of the request continues; other sessions of the
   * principal end.
   *
   * @throws INVALID_REQUEST for a wrong current password or an unacceptable new password; RATE_LIMITED after
   * too many failures, which are counted together with failed logins; CONFLICT for a principal without a
   * password, and if the principal is changed concurrently; OVERLOADED.
   */
  changePassword(
    caller: { readonly principal: Actor; readonly jti?: string },
    input: PasswordInput,
    remoteAddress: string,
  ): Promise<PrincipalChanged>;
}

export function createChangePassword({
  reader,
  writer,
  throttle,
  now,
}: {
  reader: Pick<IdentityReader, 'principal'>;
  writer: Pick<IdentityWriter, 'changePrincipal'>;
  throttle: LoginThrottle;
  now: () => number;
}): ChangePassword {
  return {
    changePassword: async ({ principal: by, jti }, input, remoteAddress) => {
      const principal = reader.principal(by.id);
      if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'the principal no longer exists');
      if (principal.password_hash === undefined)
        throw new ServiceError('CONFLICT', `${by.name} has no password; an administrator can set one`);
      requireNewPassword('new_password', input.new_password, principal.name);
      if (input.new_password.normalize('NFC') === input.current_password.normalize('NFC'))
        throw invalidField('new_password', 'must not be the current password');
      const right = await throttle.check(principal.name, remoteAddress, now(), () =>
        verifyPassword(principal.password_hash, input.current_password),
      );
      if (!right) throw invalidField('current_password', 'is wrong');
      const password_hash = await hashPassword(input.new_password);
      // The version is checked, so that a concurrent reset by an administrator is not overwritten.
      const options = { version: principal.version ?? 1, ...(jti === undefined ? {} : { keptSession: jti }) };
      try {
        return await writer.changePrincipal(by.id, { password_hash }, by, options);
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'VERSION_MISMATCH')) throw error;
        throw new ServiceError('CONFLICT', `${by.name} was changed concurrently; try again`);
      }
    },
  };
}
