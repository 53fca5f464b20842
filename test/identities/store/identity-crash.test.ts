import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { Token } from '../../../src/contract/resources/token.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Principal } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import { allRecords, allTokens, resources } from '../../store/opened.ts';

const child = new URL('identity-crash-child.ts', import.meta.url).pathname;

interface Done {
  readonly revoked?: string;
  readonly changed?: Principal;
  readonly ended?: string;
  readonly used?: string;
  readonly usedAt?: string;
  readonly audit?: string;
}

/** Runs the writer and kills it as soon as the n-th change is acknowledged. */
async function runAndKill(dataDir: string, round: number, n: number): Promise<Done[]> {
  const writer = spawn(process.execPath, [child, dataDir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const done: Done[] = [];
  const closed = new Promise((resolve) => writer.once('close', resolve));
  for await (const line of createInterface({ input: writer.stdout })) {
    done.push(JSON.parse(line));
    if (done.length === n) writer.kill('SIGKILL');
  }
  await closed;
  return done;
}

test('kill -9 right after the response: acknowledged changes persist, with their entries', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-crash-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  for (let round = 0; round < 4; round++) {
    const done = await runAndKill(dataDir, round, 1 + round * 5);
    expect(done.length).toBeGreaterThan(round * 5);
    // The writer neither flushed nor closed the store: a start finds this state.
    await inspectStore(dataDir, () => undefined);
    const store = openStore({ dataDir, alertWindowMs: 1, maxAuditRecords: 100 });
    const reader = openReader(dataDir);
    const rows = await store.outbox(100_000);
    const logged = (kind: string, id: string) => rows.filter((row) => row.kind === kind && row.subject.id === id);
    const audited = resources(reader.listAudit(allRecords)).map(({ id }) => id);
    for (const { revoked, changed, ended, used, usedAt, audit } of done) {
      for (const jti of [revoked, ended]) {
        if (jti === undefined) continue;
        expect(reader.token(jti)?.revoked_at).toBeDefined();
        expect(logged('token.revoked', jti)).toHaveLength(1);
      }
      if (changed !== undefined) {
        expect(reader.principal(changed.id)).toEqual(changed);
        expect(reader.principalByName(changed.name)).toEqual(changed);
        for (const kind of ['principal.status_changed', 'principal.role_changed'])
          expect(logged(kind, changed.id)).toHaveLength(1);
      }
      if (used !== undefined) expect(reader.token(used)?.last_used_at).toBe(usedAt);
      if (audit !== undefined) expect(audited).toContain(audit);
    }
    // Unacknowledged changes are either complete, with their entries, or absent.
    const { principals } = reader.storedPrincipals(1, 1000);
    for (const { id, status, roles, version = 1 } of principals)
      expect([
        status,
        roles[0],
        logged('principal.status_changed', id).length,
        logged('principal.role_changed', id).length,
      ]).toEqual(version === 1 ? ['active', 'admin', 0, 0] : ['suspended', 'viewer', 1, 1]);
    const tokens = resources<Token>(reader.listTokens(allTokens, 0));
    for (const { attributes } of tokens) {
      const { jti, revoked_at } = attributes;
      expect(logged('token.revoked', jti)).toHaveLength(revoked_at === undefined ? 0 : 1);
    }
    expect(reader.administrators()).toBe(principals.filter(({ status }) => status === 'active').length);
    reader.close();
    await store.close();
  }
});
