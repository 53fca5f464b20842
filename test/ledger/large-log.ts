import { join } from 'node:path';
import { sha256 } from '../../src/crypto/sha256.ts';
import { noHooks } from '../../src/ledger/hooks.ts';
import { ledgerPurposes } from '../../src/ledger/keys/key-file.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { Sequencer } from '../../src/ledger/sequencer.ts';
import { LeafIndex } from '../../src/ledger/storage/leaf-index.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { uuid7 } from '../../src/uuid.ts';

/**
 * Returns the canonical bytes of the nth entry. The bytes only resemble an entry, which is sufficient for
 * reads.
 */
export function canonicalOf(n: number, kind: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ data: { kind: 'none', n }, id: idOf(n), kind }));
}

export function idOf(n: number): string {
  return uuid7(1_763_700_000_000 + n, `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`);
}

/**
 * Creates a log of `leaves` leaves in an empty data folder, with all its keys, written in batches and closed.
 */
export async function makeLog(dataDir: string, leaves: number, kindOf: (n: number) => string): Promise<void> {
  const storage = new LmdbStorage(join(dataDir, 'ledger.mdb'));
  storage.setState('initialising');
  const keys = new KeyRing(join(dataDir, 'keys'));
  await keys.create(ledgerPurposes, Date.now());
  storage.setState('ready');
  const sequencer = new Sequencer({
    storage,
    tree: GrowingTree.load(sha256, 0, () => undefined)!,
    leaves: new LeafIndex(),
    key: keys.active('transparency-sth')!,
    clock: () => BigInt(Date.now()) * 1_000_000n,
    hooks: noHooks,
    freeBytes: () => Number.POSITIVE_INFINITY,
    onHead: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });
  for (let made = 0; made < leaves; ) {
    const count = Math.min(4000, leaves - made);
    await sequencer.append(
      Array.from({ length: count }, (_, i) => {
        const kind = kindOf(made + i);
        return { id: idOf(made + i), kind, canonical: canonicalOf(made + i, kind) };
      }),
    );
    made += count;
  }
  await storage.close();
}
