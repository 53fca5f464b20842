import type { PrincipalInput, PrincipalUpdateInput } from '../contract/resources/principal.ts';
import { invalidField } from '../errors.ts';
import type { Principal, PrincipalChanged } from '../store/store.ts';
import { type Caller, requireHeld } from './access.ts';
import type { IdentityWriter, Sources } from './identities.ts';
import { hashPassword, requireNewPassword } from './passwords.ts';
import { requireName } from './principal-name.ts';

export interface Provision {
  /**
   * Creates a principal. A user without a password signs in with a client certificate.
   *
   * @throws INVALID_REQUEST that names the field; FORBIDDEN for roles that the caller lacks; CONFLICT for a
   * name that is taken or looks like an existing name; OVERLOADED
   */
  createPrincipal(input: PrincipalInput, by: Caller): Promise<Principal>;
  /**
   * Changes the given attributes. A new password is a reset by an administrator, and ends all sessions of the
   * principal.
   *
   * @param principal - the principal as read; if its roles change concurrently, they are checked again
   * @param version - the version that the caller expects, if any
   * @throws the errors of `createPrincipal` and `Store.changePrincipal`
   */
  changePrincipal(
    principal: Principal,
    input: PrincipalUpdateInput,
    by: Caller,
    version?: number,
  ): Promise<PrincipalChanged>;
}

export function createProvision({
  writer,
  sources,
}: {
  writer: Pick<IdentityWriter, 'createPrincipal' | 'changePrincipal'>;
  sources: Sources;
}): Provision {
  return {
    createPrincipal: async ({ name, kind, roles, status = 'active', password }, by) => {
      requireName(name);
      requireHeld(by, roles);
      const hashed = await hashOf(password, { name, kind });
      const nowMs = sources.now();
      const principal: Principal = {
        id: sources.newId(nowMs),
        name,
        kind,
        roles: [...roles],
        status,
        ...hashed,
        created_at: new Date(nowMs).toISOString(),
      };
      await writer.createPrincipal(principal, by);
      return principal;
    },

    changePrincipal: async (principal, { password, ...change }, by, version) => {
      // A name that is older than the rules for names remains valid until it is changed.
      if (change.name !== undefined && change.name !== principal.name) requireName(change.name);
      requireHeld(by, [...principal.roles, ...(change.roles ?? [])]);
      const hashed = await hashOf(password, { name: change.name ?? principal.name, kind: principal.kind });
      const options = { callerRoles: by.roles, ...(version === undefined ? {} : { version }) };
      return writer.changePrincipal(principal.id, { ...change, ...hashed }, by, options);
    },
  };
}

/**
 * Returns the password hash to store, if a password is given. Only users may have a password; machines use
 * tokens and certificates.
 */
async function hashOf(
  password: string | undefined,
  { name, kind }: Pick<Principal, 'name' | 'kind'>,
): Promise<Pick<Principal, 'password_hash'>> {
  if (password === undefined) return {};
  if (kind !== 'user') throw invalidField('password', `is only for users; a ${kind} uses tokens or a certificate`);
  requireNewPassword('password', password, name);
  return { password_hash: await hashPassword(password) };
}
