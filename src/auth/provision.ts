import type { PrincipalInput, PrincipalUpdateInput } from '../contract/resources/principal.ts';
import { invalidField, ServiceError } from '../errors.ts';
import type { Principal, PrincipalChanged } from '../store/store.ts';
import { type Caller, requireHeld } from './access.ts';
import type { IdentityWriter, Sources } from './identities.ts';
import { hashPassword, requireNewPassword } from './passwords.ts';
import { requireName } from './principal-name.ts';

export interface Provision {
  /**
   * Creates a principal. A user without a password signs in with a client certificate.
   *
   * @throws INVALID_REQUEST that names the field; FORBIDDEN for roles that the caller lacks; CONFLICT for a name that is
   * taken, or looks like one that is; OVERLOADED.
   */
  createPrincipal(input: PrincipalInput, by: Caller): Promise<Principal>;
  /**
   * Changes what is given. A password is an administrator's reset: all sessions of the principal end.
   *
   * @param principal - as it is now
   * @param version - what the caller saw, where it says so
   * @throws as `createPrincipal` does, and as `Store.changePrincipal`; CONFLICT where somebody else changes the principal
   * meanwhile.
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
      // A name from before these rules does as long as it stays.
      if (change.name !== undefined && change.name !== principal.name) requireName(change.name);
      requireHeld(by, [...principal.roles, ...(change.roles ?? [])]);
      // Always by version: what the caller may do was judged by the roles that the principal has in this one.
      const { version: seen = 1 } = principal;
      if (version !== undefined && version !== seen)
        throw new ServiceError(
          'VERSION_MISMATCH',
          `principal ${principal.id} has version ${seen}, not ${version}`,
          { version: seen },
        );
      const hashed = await hashOf(password, { name: change.name ?? principal.name, kind: principal.kind });
      try {
        return await writer.changePrincipal(principal.id, { ...change, ...hashed }, by, { version: seen });
      } catch (error) {
        if (version !== undefined || !(error instanceof ServiceError && error.code === 'VERSION_MISMATCH'))
          throw error;
        throw new ServiceError('CONFLICT', `${principal.name} was changed by somebody else meanwhile`);
      }
    },
  };
}

/** What is stored of a password; nothing where none was given. Machines have tokens and certificates. */
async function hashOf(
  password: string | undefined,
  { name, kind }: Pick<Principal, 'name' | 'kind'>,
): Promise<Pick<Principal, 'password_hash'>> {
  if (password === undefined) return {};
  if (kind !== 'user') throw invalidField('password', `is for users; a ${kind} has tokens or a certificate`);
  requireNewPassword('password', password, name);
  return { password_hash: await hashPassword(password) };
}
