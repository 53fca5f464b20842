import { audit, type Pin, proveEntry } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { fingerprint } from '../../src/client/key-set.ts';
import type { LogSource } from '../../src/client/log-source.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { say, tick } from './terminal.ts';

/**
 * Verifies an alert as an outsider, with only the public endpoints and the entry's bytes. Shows each step.
 */
export async function proveAlert(log: LogSource, id: string, alert: Alert, pin: Pin): Promise<void> {
  say(`An outsider checks the alert “${alert.title}”:`);
  const audited = await audit(log, pin, { now: Date.now() });
  if (audited.status === 'fault') throw new Error(`${audited.fault.code}: ${audited.fault.message}`);
  if (audited.status === 'empty') throw new Error('the log is empty');
  const { head } = audited.pin;
  tick(
    'tree head signed',
    `size ${head.size}, root ${short(head.root)}, key ${fingerprint(audited.key).slice(0, 16)}…`,
  );

  const leafIndex = alert.transparency?.leaf_index;
  if (leafIndex === undefined) throw new Error(`alert ${id} has no position in the log`);
  const proven = await proveEntry(log, { leafIndex }, { head, keys: audited.keys });
  if (proven instanceof AuditFault) throw new Error(`${proven.code}: ${proven.message}`);
  if ((proven.entry.subject as { id?: unknown }).id !== id)
    throw new Error(`leaf ${leafIndex} is not about alert ${id}`);
  tick('entry signed', `${proven.entry.kind}, key ${fingerprint(proven.entryKey).slice(0, 16)}…`);
  tick('entry included', `leaf ${leafIndex}, hash ${short(proven.leafHash)}, ${proven.path.length} hashes to the root`);

  if (audited.status !== 'extended') throw new Error(`the log did not grow beyond ${pin.head.size} entries`);
  tick('log only extended', `from size ${audited.from}, root ${short(pin.head.root)}, to size ${head.size}`);
}

function short(hash: Uint8Array): string {
  return `${bytesToHex(hash).slice(0, 12)}…`;
}
