import { randomBytes } from 'node:crypto';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { hashPassword } from './passwords.ts';

export const administratorName = 'admin';

/**
 * Creates the administrator on the first start. It is part of the initialisation, so it is no event of the log.
 *
 * @param password - what the operator chose; a random one otherwise
 * @returns the generated password, to be shown once; undefined when there was one, or the administrator exists
 */
export async function ensureAdministrator(
  {
    reader,
    writer,
    sources,
  }: {
    reader: Pick<IdentityReader, 'principalByName'>;
    writer: Pick<IdentityWriter, 'createPrincipal'>;
    sources: Sources;
  },
  password: string | undefined,
): Promise<string | undefined> {
  if (reader.principalByName(administratorName) !== undefined) return undefined;
  const generated = password === undefined ? randomBytes(18).toString('base64url') : undefined;
  await writer.createPrincipal(
    {
      id: sources.newId(),
      name: administratorName,
      kind: 'user',
      roles: ['admin'],
      status: 'active',
      password_hash: await hashPassword(password ?? generated!),
      created_at: new Date(sources.now()).toISOString(),
    },
    { id: 'system', name: 'system' },
  );
  return generated;
}
