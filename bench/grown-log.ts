/** Creates data folders with a log of any size, at the speed of the log alone. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { sha256 } from '../src/crypto/sha256.ts';
import { noHooks } from '../src/ledger/hooks.ts';
import { ledgerPurposes } from '../src/ledger/keys/key-file.ts';
import { KeyRing } from '../src/ledger/keys/key-ring.ts';
import type { UnsignedEntry } from '../src/ledger/ledger.ts';
import { Sequencer } from '../src/ledger/sequencer.ts';
import { LeafIndex } from '../src/ledger/storage/leaf-index.ts';
import { LmdbStorage } from '../src/ledger/storage/lmdb-store.ts';
import { GrowingTree } from '../src/tlog/growing-tree.ts';
import { uuid7 } from '../src/uuid.ts';

export interface GrownLog {
  readonly storage: LmdbStorage;
  readonly leaves: LeafIndex;
  readonly sequencer: Sequencer;
  /** Appends the next `count` entries as one batch. */
  grow(count: number): Promise<void>;
}

/** Begins a log in an empty folder. Its entries have the form of signed entries, with an invalid signature. */
export async function beginLog(dataDir: string): Promise<GrownLog> {
  mkdirSync(dataDir, { recursive: true });
  const storage = new LmdbStorage(join(dataDir, 'ledger.mdb'));
  storage.setState('initialising');
  const keys = new KeyRing(join(dataDir, 'keys'));
  await keys.create(ledgerPurposes, Date.now());
  storage.setState('ready');
  const key = keys.active('transparency-sth');
  const signer = keys.active('event-signing');
  const tree = GrowingTree.load(sha256, 0, () => undefined);
  if (key === undefined || signer === undefined || tree === undefined)
    throw new Error('a new log has no key or no tree');
  const leaves = new LeafIndex();
  const sequencer = new Sequencer({
    storage,
    tree,
    leaves,
    key,
    clock: () => BigInt(Date.now()) * 1_000_000n,
    hooks: noHooks,
    freeBytes: () => Number.POSITIVE_INFINITY,
    onHead: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });
  let made = 0;
  const write = signedForm(signer.kid);
  return {
    storage,
    leaves,
    sequencer,
    async grow(count) {
      const items = Array.from({ length: count }, () => write(made++));
      await sequencer.append(items);
    },
  };
}

/** Creates a log of `size` leaves and closes it. */
export async function growLog(dataDir: string, size: number): Promise<void> {
  const log = await beginLog(dataDir);
  for (let made = 0; made < size; made += 2000) await log.grow(Math.min(2000, size - made));
  await log.storage.close();
}

/** Returns the id of the nth entry. */
export function idOf(n: number): string {
  const random = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
  return uuid7(1_763_700_000_000 + Math.floor(n / 10), random);
}

/** Returns an alert as the pipeline logs it: about 700 canonical bytes. */
export function newEntry(n: number): UnsignedEntry {
  return {
    id: idOf(n),
    kind: 'alert.raised',
    occurred_at: new Date().toISOString(),
    actor: 'system',
    subject: { type: 'alert', id: idOf(n + 1) },
    data: {
      title: 'ET SCAN Potential SSH Scan OUTBOUND',
      severity: 'high',
      rule_id: '2003068',
      rule_source: 'suricata',
      src_ip: '10.20.30.40',
      dst_ip: '203.0.113.77',
      dst_port: 22,
      transport: 'tcp',
      count: n,
      first_seen: '2025-11-21T03:59:58.123Z',
    },
  };
}

/**
 * Returns a function that writes the nth entry by changing parts of the previous entry, so that only the log is
 * measured.
 */
function signedForm(keyId: string): (n: number) => { id: string; kind: string; canonical: Uint8Array } {
  const nowhere = '00000000-0000-7000-8000-000000000000';
  const whole = { ...newEntry(0), id: nowhere, key_id: keyId, signature: 'f'.repeat(128) };
  const text = canonicalize({ ...whole, data: { ...whole.data, count: 1_000_000_000 } })!;
  const template = new TextEncoder().encode(text);
  const idAt = text.indexOf(nowhere);
  const countAt = text.indexOf('1000000000');
  const encoder = new TextEncoder();
  return (n) => {
    const id = idOf(n);
    const canonical = new Uint8Array(template);
    encoder.encodeInto(id, canonical.subarray(idAt));
    encoder.encodeInto(String(1_000_000_000 + n), canonical.subarray(countAt));
    return { id, kind: 'alert.raised', canonical };
  };
}
