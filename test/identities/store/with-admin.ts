import { opened } from '../../store/opened.ts';
import { principal, system } from './identity-records.ts';

/** Opens a store with one administrator. `rows` and `kinds` read its outbox. */
export async function withAdmin(options: Parameters<typeof opened>[0] = {}) {
  const open = opened(options);
  const admin = principal('admin');
  await open.store.createPrincipal(admin, system);
  const rows = () => open.store.outbox(100_000);
  return { ...open, admin, rows, kinds: async () => (await rows()).map(({ kind }) => kind) };
}
