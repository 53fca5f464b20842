import type { Principal, Token } from '../../../src/store/store.ts';
import { uuid7 } from '../../../src/uuid.ts';

const start = Date.UTC(2026, 10, 20);

export const system = { id: 'system', name: 'system' };
export const day = 24 * 3_600_000;

/** Returns a principal, by default an administrator. */
export const principal = (name: string, changes: Partial<Principal> = {}): Principal => ({
  id: uuid7(start),
  name,
  kind: 'user',
  roles: ['admin'],
  status: 'active',
  password_hash: '$argon2id$0',
  created_at: new Date(start).toISOString(),
  ...changes,
});

export const session = (of: Principal, changes: Partial<Token> = {}): Token => ({
  jti: uuid7(start),
  principal_id: of.id,
  kind: 'session',
  roles: ['admin'],
  secret_hash: 'h1',
  issued_at: new Date(start).toISOString(),
  expires_at: new Date(start + 7 * day).toISOString(),
  ...changes,
});

export function longLived(of: Principal, changes: Partial<Token> = {}): Token {
  const { expires_at: _, ...endless } = session(of, { kind: 'long_lived', ...changes });
  return changes.expires_at === undefined ? endless : { ...endless, expires_at: changes.expires_at };
}
