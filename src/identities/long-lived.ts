import type { Role } from '../contract/vocabulary.ts';
import { invalidField } from '../errors.ts';
import type { Principal, Token } from '../store/store.ts';
import { type Caller, holds, requireHeld } from './access.ts';
import type { IdentityWriter, Sources } from './identities.ts';
import { newSecret, secretHash, writeSecret } from './secrets.ts';

export interface TokenOptions {
  readonly name: string;
  /** A subset of the roles of the principal. */
  readonly roles: readonly Role[];
  /** When the token expires (ISO 8601); absent if it does not expire. */
  readonly expires_at?: string;
}

/**
 * Issues a long-lived token for a machine. Only its hash is stored, so `token` can be shown only once.
 *
 * @throws INVALID_REQUEST for a suspended principal, a role that the principal lacks, or an expiry in the
 * past
 */
export async function issueLongLived(
  { writer, sources }: { writer: Pick<IdentityWriter, 'addToken'>; sources: Sources },
  principal: Principal,
  options: TokenOptions,
  by: Caller,
): Promise<{ token: string; record: Token }> {
  const nowMs = sources.now();
  requireHeld(by, principal.id === by.id ? options.roles : [...options.roles, ...principal.roles]);
  if (principal.status !== 'active') throw invalidField('principal_id', `is ${principal.status}`);
  for (const role of options.roles)
    if (!holds(principal.roles, role))
      throw invalidField('scopes', `includes ${role}, a role that ${principal.name} does not have`);
  if (options.expires_at !== undefined && Date.parse(options.expires_at) <= nowMs)
    throw invalidField('expires_at', 'is in the past');
  const secret = newSecret();
  const record: Token = {
    jti: sources.newId(nowMs),
    principal_id: principal.id,
    kind: 'long_lived',
    name: options.name,
    roles: [...options.roles],
    secret_hash: secretHash(secret),
    issued_at: new Date(nowMs).toISOString(),
    ...(options.expires_at === undefined ? {} : { expires_at: options.expires_at }),
  };
  await writer.addToken(record, by);
  return { token: writeSecret('long_lived', { jti: record.jti, secret }), record };
}
