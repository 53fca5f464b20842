import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { PolicyStep } from '../../src/identities/access-policy.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { code, folder, onlyAuditors } from './opened-policy.ts';
import { policyEntries } from './policy-entries.ts';
import { alice, forRoles, newFolder, openPolicy, removeFolder, withRules } from './policy-parts.ts';

const child = new URL('policy-crash-child.ts', import.meta.url).pathname;

const killed = newFolder();
afterAll(() => removeFolder(killed));

/** Makes a change in a process that is killed after a step. The first call for a step does so, and later calls copy it. */
async function killedAfter(step: PolicyStep): Promise<string> {
  const left = join(killed, step);
  if (!existsSync(left)) cpSync(await killAfter(step), left, { recursive: true });
  const dataDir = folder();
  cpSync(left, dataDir, { recursive: true });
  return dataDir;
}

async function killAfter(step: PolicyStep): Promise<string> {
  const dataDir = folder();
  await (await openPolicy(dataDir)).close();
  const [code, signal] = await once(spawn(process.execPath, [child, dataDir, step]), 'exit');
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return dataDir;
}

const fileIn = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8'));

/**
 * The policy in effect after a crash at each step: the one from before or after the change. The next start
 * completes a committed change.
 */
const steps = {
  'file-prepared': 'before',
  committed: 'after',
  'file-replaced': 'after',
  noted: 'after',
} as const satisfies Record<PolicyStep, 'before' | 'after'>;

test.each(Object.entries(steps) as [PolicyStep, 'before' | 'after'][])(
  'after a kill at the step "%s", the policy in effect is that %s the change, and the log matches the policy',
  async (step, left) => {
    const dataDir = await killedAfter(step);
    const ledger = await openLedger({ dataDir: folder() });
    onTestFinished(() => ledger.close());

    // Start twice: the second start must not repeat the steps that the first start completed.
    for (let start = 0; start < 2; start++) {
      const { policy, store, warnings, close } = await openPolicy(dataDir);
      const logged = await policyEntries(store, ledger);
      expect(warnings).toEqual([]);
      expect(fileIn(dataDir).rules).toEqual(policy.current.rules);
      if (left === 'before') {
        expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([1, ['viewer', 'analyst', 'admin']]);
        expect(logged).toEqual([]);
      } else {
        expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
        expect(logged).toMatchObject([
          { kind: 'policy.rule_edited', actor: alice.id, data: { version: 2, changed_count: 1 } },
        ]);
      }
      await close();
    }
  },
);

test('a file that was edited after a crash is loaded, although the interrupted change was not written to the file', async () => {
  const dataDir = await killedAfter('committed');
  const { rules } = fileIn(dataDir);
  const edited = withRules(rules, forRoles('getAlert', 'admin'));
  writeFileSync(join(dataDir, 'policy.json'), JSON.stringify({ rules: edited }));
  const { policy, waiting, close } = await openPolicy(dataDir);
  onTestFinished(close);
  expect([policy.accessOf('getAlert'), policy.accessOf('listAlerts')]).toEqual([
    ['admin'],
    ['viewer', 'analyst', 'admin'],
  ]);
  expect((await waiting()).map(({ kind, data }) => [kind, data.version])).toEqual([
    ['policy.rule_edited', 2],
    ['policy.reloaded', 3],
  ]);
});

test('an edit that restores the previous content, after a change was written to the file, is loaded', async () => {
  const dataDir = await killedAfter('noted');
  const first = await openPolicy(folder());
  const { rules } = first.policy.current;
  await first.close();
  writeFileSync(
    join(dataDir, 'policy.json'),
    `{"rules":[\n${rules.map((one) => JSON.stringify(one)).join(',\n')}\n]}\n`,
  );
  const { policy, close } = await openPolicy(dataDir);
  onTestFinished(close);
  expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([3, ['viewer', 'analyst', 'admin']]);
  expect(await code(policy.replace(withRules(rules, onlyAuditors), alice))).toMatchObject({ version: 4 });
});
