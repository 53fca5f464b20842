import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PolicyStep } from '../../src/auth/access-policy.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { OutboxPump } from '../../src/ledger/outbox-pump.ts';
import type { AlertUpdate } from '../../src/store/store.ts';
import { alice, newFolder, openPolicy, removeFolder } from './policy-parts.ts';

const child = new URL('policy-crash-child.ts', import.meta.url).pathname;

/** From `pending` on, the change is completed after a crash. */
const steps = {
  'file-prepared': 'before',
  pending: 'after',
  recorded: 'after',
  'file-replaced': 'after',
  kept: 'after',
  settled: 'after',
} as const satisfies Record<PolicyStep, 'before' | 'after'>;

test.each(Object.entries(steps))(
  'a process killed after "%s" has the policy from %s the change, and logs the change accordingly',
  async (step, left) => {
    const dataDir = newFolder();
    onTestFinished(() => removeFolder(dataDir));
    const ledger = await openLedger({ dataDir });
    onTestFinished(() => ledger.close());
    await (await openPolicy(dataDir)).close();

    const [code, signal] = await once(spawn(process.execPath, [child, dataDir, step]), 'exit');
    expect([code, signal]).toEqual([null, 'SIGKILL']);

    // Start twice: the second start must not repeat what the first one finished.
    for (let start = 0; start < 2; start++) {
      const { policy, store, warnings, close } = await openPolicy(dataDir);
      const pump = new OutboxPump<AlertUpdate>({
        source: store,
        ledger,
        onUpdates: () => undefined,
        onRetry: () => undefined,
        onRefused: () => undefined,
      });
      await pump.idle();
      await pump.close();
      const { leaves } = await ledger.entries({
        kinds: ['policy.rule_edited', 'policy.reloaded'],
        page: 1,
        per_page: 10,
      });
      const logged = leaves.map(({ canonical }) => JSON.parse(Buffer.from(canonical).toString()));
      expect(warnings).toEqual([]);
      expect(existsSync(join(dataDir, 'policy.pending.json'))).toBe(false);
      const file = JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8'));
      expect(file.rules).toEqual(policy.current.rules);
      if (left === 'before') {
        expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([
          1,
          ['viewer', 'analyst', 'admin'],
        ]);
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
