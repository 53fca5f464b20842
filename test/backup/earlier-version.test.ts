/**
 * A data folder written by an earlier version, stopped after 12 alerts and two key rotations, with the pin of
 * an auditor that saw the first 12 of its 16 entries. It has no lives, no instance.json, no record of the
 * checkpoint key and no receipts.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { audit } from '../../src/client/auditor.ts';
import { auditEntries } from '../../src/client/entries.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin, writePin } from '../../src/client/pin.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { ServedLog } from '../client/served-log.ts';
import { newFolder, openParts } from './fixture.ts';
import { checkAlerts } from './logged-alerts.ts';
import { addReceipts, alertsOf } from './writers.ts';

function unpacked(): string {
  const dataDir = newFolder();
  const packed = readFileSync(new URL('folder-of-earlier-version.json.gz', import.meta.url));
  const files: Record<string, string> = JSON.parse(gunzipSync(packed).toString());
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true });
    writeFileSync(join(dataDir, name), Buffer.from(content, 'base64'));
  }
  return dataDir;
}

/** Sets the clock to an hour after the folder was written, because an operator must confirm a longer gap. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2025-01-15T13:00:00Z') }));
afterEach(() => void vi.useRealTimers());

test('a data folder of an earlier version is opened without damage, and accepts entries', async () => {
  const dataDir = unpacked();
  expect(await fsck({ dataDir, signatures: true })).toMatchObject({ ok: true, size: 16 });
  for (let start = 0; start < 2; start++) {
    const parts = await openParts(dataDir);
    const { health, findings, warnings, life } = await parts.ledger.status();
    expect({ health, findings, warnings, life }).toEqual({
      ...{ health: { state: 'ok' }, findings: [], warnings: [], life: undefined },
    });
    expect(await checkAlerts(parts)).toBe(12 + 3 * start);
    await parts.store.commit(alertsOf(100 + 3 * start, 3));
    await addReceipts(parts, 1);
    expect(await checkAlerts(parts)).toBe(15 + 3 * start);
    expect((await parts.ledger.status()).size).toBe(20 + 4 * start);
    expect(parts.findings).toEqual([]);
    await parts.close();
  }
  expect(await fsck({ dataDir, signatures: true })).toMatchObject({ ok: true, size: 24 });
  const parts = await openParts(dataDir);
  await parts.close();
  rmSync(join(dataDir, 'instance.json'));
  const copied = await openParts(dataDir);
  expect((await copied.ledger.status()).health).toMatchObject({ fault: 'copied' });
});

test('an audit migrates the pin of an earlier version without findings', async () => {
  const dataDir = unpacked();
  const parts = await openParts(dataDir);
  await parts.store.commit(alertsOf(100, 3));
  parts.pump.wake();
  await parts.close();
  const served = await ServedLog.start();
  onTestFinished(() => served.close());
  await served.restore(dataDir);
  const log = httpLog(served.url);
  const pin = parsePin(readFileSync(join(dataDir, 'log.pin'), 'utf8'));
  if (pin instanceof AuditFault) throw new Error(pin.message);
  expect(pin.head.size).toBe(12);
  const found = await audit(log, { ...pin, log: served.url }, { now: Date.now() });
  expect(found).toMatchObject({ status: 'extended', pin: { head: { size: 19 } } });
  if (found.status !== 'extended') return;
  const start = { size: 12, edge: pin.entries!.edge };
  const entries = await auditEntries(log, { head: found.pin.head, keys: found.keys }, { start });
  expect(entries).toMatchObject({ tree: { size: 19 } });
  expect(writePin(found.pin)).toContain('"version":5,');
  expect(parsePin(writePin(found.pin))).toEqual(found.pin);
});
