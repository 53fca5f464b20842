/** A data folder that lost its events and identities, but not its log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../scripts/service.ts';
import { logIn } from '../ledger/damaged-log.ts';

test('a start without siem.mdb, while the log has entries, reports the loss and how to restore the file', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-lost-events-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  await logIn(dataDir, 1);

  const without = await startService({ dataDir });
  const warning = without.output.find((line) => /^ {2}warning/.test(line));
  expect(warning).toContain('siem.mdb');
  expect(warning).toMatch(/candor fsck.*candor restore --replace.*loses every entry after the backup/);
  expect(await without.stop()).toBe(0);

  const again = await startService({ dataDir });
  expect(again.output.join('\n')).not.toContain('siem.mdb');
  expect(await again.stop()).toBe(0);
});
