import { randomBytes } from 'node:crypto';
import type { StoreReader } from '../store/store.ts';
import type { IdentityWriter, Sources } from './identities.ts';
import { hashPassword } from './passwords.ts';

const administratorName = 'admin';

/**
 * Creates the administrator on the first start. It is part of the initialisation, so it is no event of the log.
 *
 * @returns whether this is the first start
 * @param password - what the operator chose; a random one otherwise
 * @param show - gets the generated password, before it is stored: a start that fails later must not keep it to itself
 */
export async function ensureAdministrator(
  {
    reader,
    writer,
    sources,
  }: {
    reader: Pick<StoreReader, 'storedPrincipals'>;
    writer: Pick<IdentityWriter, 'createPrincipal'>;
    sources: Sources;
  },
  password: string | undefined,
  show: (password: string) => void,
): Promise<boolean> {
  // Whatever the administrator is called by now: there is a principal only since the first start.
  if (reader.storedPrincipals(1, 1).total > 0) return false;
  const generated = randomBytes(18).toString('base64url');
  if (password === undefined) show(generated);
  const nowMs = sources.now();
  await writer.createPrincipal(
    {
      id: sources.newId(nowMs),
      name: administratorName,
      kind: 'user',
      roles: ['admin'],
      status: 'active',
      password_hash: await hashPassword(password ?? generated),
      created_at: new Date(nowMs).toISOString(),
    },
    { id: 'system', name: 'system' },
  );
  return true;
}
