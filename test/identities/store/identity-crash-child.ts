import { writeSync } from 'node:fs';
import { openStore } from '../../../src/store/writer.ts';
import { day, longLived, principal, session, system } from './identity-records.ts';

/**
 * Changes principals, tokens and the audit log until killed; prints each change as JSON once acknowledged.
 */
const [dataDir, round] = process.argv.slice(2);
const store = openStore({ dataDir: dataDir!, alertWindowMs: 1, maxAuditRecords: 100 });
const say = (done: object) => writeSync(1, `${JSON.stringify(done)}\n`);

await store.createPrincipal(principal(`keeper ${round}`), system);
// The store in this process uses the clock of the machine.
const expires_at = new Date(Date.now() + day).toISOString();
for (let n = 0; ; n++) {
  const user = principal(`${round}/${n}`);
  await store.createPrincipal(user, system);
  const [revoked, ended, used] = [longLived(user), session(user, { expires_at }), longLived(user)];
  for (const token of [revoked, ended, used]) await store.addToken(token, user);
  const usedAt = new Date().toISOString();
  await Promise.all([
    store.revokeToken(revoked.jti, user).then(() => say({ revoked: revoked.jti })),
    store
      .changePrincipal(
        user.id,
        { password_hash: `${n}`, status: 'suspended', roles: ['viewer'], name: `${round}:${n}` },
        system,
      )
      .then(({ principal }) => say({ changed: principal, ended: ended.jti })),
    store.noteTokenUse(new Map([[used.jti, usedAt]])).then(() => say({ used: used.jti, usedAt })),
    store
      .addAudit([
        {
          id: user.id,
          actor: user.id,
          operation: 'x',
          request_id: `${n}`,
          source_address: '::',
          outcome: 'success',
          time: usedAt,
        },
      ])
      .then(() => say({ audit: user.id })),
  ]);
}
