/** A start of the service without files that it had. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { call, type Item, type Page } from '../system/call.ts';

test('the loss of siem.mdb is reported at the start, and the loss of the access policy is in the log', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-lost-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const ledger = await openLedger({ dataDir });
  await ledger.append(entries(0, 3));
  await ledger.close();
  const service = await startService({ dataDir });
  try {
    expect(service.output).toContainEqual(
      expect.stringMatching(/^ {2}warning +siem\.mdb was missing, though the log has entries/),
    );
    const token = await login(service);
    const reloads = async () => {
      const { body } = await call(service, 'listEntries', { token, query: 'kind=policy.reloaded' });
      return (body as Page).data.map(({ attributes }: Item) => attributes.entry);
    };
    while ((await reloads()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await reloads()).toMatchObject([{ actor: 'system', data: { version: 1, removed: [] } }]);
  } finally {
    expect(await service.stop()).toBe(0);
  }
});
