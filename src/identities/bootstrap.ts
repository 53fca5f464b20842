import { randomBytes } from 'node:crypto';
import type { StoreReader } from '../store/store.ts';
import type { IdentityWriter, Sources } from './identities.ts';
import { hashPassword } from './passwords.ts';

const administratorName = 'admin';

/**
 * Creates the administrator on the first start. The creation is part of the initialisation and is not logged.
 *
 * @returns whether this is the first start
 * @param password - the password that the operator chose; if undefined, a random password is generated
 * @param show - receives the generated password before it is stored, so that it is shown even if the start
 * fails later
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
  // The administrator may have been renamed, so any principal means that this is not the first start.
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
