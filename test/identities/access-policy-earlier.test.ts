/**
 * Uses folders that an earlier version of the program wrote, with the policy in files: one after a complete
 * change, and one for each kill that left a pending change.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openStore } from '../../src/store/writer.ts';
import { code, folder, opened } from './opened-policy.ts';
import { policyEntries } from './policy-entries.ts';
import { alice, forRoles, openPolicy, withRules } from './policy-parts.ts';

const packed = readFileSync(new URL('policy-folders-of-earlier-version.json.br', import.meta.url));
const folders: Record<string, Record<string, string>> = JSON.parse(brotliDecompressSync(packed).toString());

function unpacked(step: string): string {
  const dataDir = folder();
  for (const [name, content] of Object.entries(folders[step]!))
    writeFileSync(join(dataDir, name), Buffer.from(content, 'base64'));
  return dataDir;
}
const earlier = ['policy.in-effect.json', 'policy.pending.json'];
const left = (dataDir: string) => earlier.filter((name) => existsSync(join(dataDir, name)));
const fileIn = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8'));

describe('the policy in files of an earlier version', () => {
  test.each(['pending', 'recorded', 'file-replaced', 'kept', 'settled'])(
    'moves into siem.mdb after a kill after "%s", and the interrupted change takes effect and is logged once',
    async (step) => {
      const dataDir = unpacked(step);
      const { id } = JSON.parse(readFileSync(join(dataDir, 'policy.in-effect.json'), 'utf8'));
      const ledger = await openLedger({ dataDir: folder() });
      onTestFinished(() => ledger.close());
      for (let start = 0; start < 2; start++) {
        const { policy, store, warnings, close } = await openPolicy(dataDir, { isUsed: true });
        expect([policy.id, policy.current.version, policy.accessOf('listAlerts')]).toEqual([id, 2, ['auditor']]);
        expect(fileIn(dataDir).rules).toEqual(policy.current.rules);
        expect([left(dataDir), warnings]).toEqual([[], []]);
        expect(await policyEntries(store, ledger)).toMatchObject([
          { kind: 'policy.rule_edited', actor: alice.id, data: { version: 2, changed_count: 1 } },
        ]);
        await close();
      }
    },
  );

  test('is not logged again if the log already has the entry of its change', async () => {
    const dataDir = unpacked('recorded');
    const ledger = await openLedger({ dataDir: folder() });
    onTestFinished(() => ledger.close());
    const { entry_id } = JSON.parse(readFileSync(join(dataDir, 'policy.pending.json'), 'utf8'));
    const before = openStore({ dataDir, alertWindowMs: 1000 });
    const logged = await policyEntries(before, ledger);
    expect(logged).toMatchObject([{ id: entry_id }]);
    await before.close();
    const { store, policy } = await opened(dataDir, { isUsed: true });
    expect(await policyEntries(store, ledger)).toEqual(logged);
    expect(policy.current.version).toBe(2);
  });

  test('is loaded if it was edited while the service was stopped', async () => {
    const dataDir = unpacked('settled');
    const { rules } = fileIn(dataDir);
    writeFileSync(
      join(dataDir, 'policy.json'),
      JSON.stringify({ rules: withRules(rules, forRoles('getAlert', 'admin')) }),
    );
    const { policy } = await opened(dataDir, { isUsed: true });
    expect([policy.current.version, policy.accessOf('getAlert')]).toEqual([3, ['admin']]);
  });

  test('stays in effect and in its files while siem.mdb cannot be written', async () => {
    const dataDir = unpacked('pending');
    let full = true;
    const { policy, warnings, waiting } = await opened(dataDir, {
      isUsed: true,
      commit: (commit) => (change, by) =>
        full ? Promise.reject(new ServiceError('UNAVAILABLE', 'disk full')) : commit(change, by),
    });
    expect([policy.current.version, policy.accessOf('listAlerts'), left(dataDir)]).toEqual([2, ['auditor'], earlier]);
    expect(warnings).toMatchObject([{ code: 'UNAVAILABLE' }]);
    full = false;
    const next = withRules(policy.current.rules, forRoles('getAlert'));
    expect(await code(policy.replace(next, alice))).toMatchObject({ version: 3 });
    expect((await waiting()).map(({ data }) => data.version)).toEqual([2, 3]);
  });

  test.each(earlier)('prevents the start if %s is damaged', async (name) => {
    const dataDir = unpacked('pending');
    writeFileSync(join(dataDir, name), '{"version":1}');
    await expect(openPolicy(dataDir)).rejects.toThrow(`${name} is damaged: restore it from a backup`);
  });
});
