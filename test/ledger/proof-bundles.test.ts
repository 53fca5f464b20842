/** Proof bundles as served: made by the log reader's thread, with the ledger's signature where needed. */
import { expect, onTestFinished, test } from 'vitest';
import type { LeafQuery, Ledger, LogView } from '../../src/ledger/ledger.ts';
import type { LedgerOptions } from '../../src/ledger/open.ts';
import { ProofBundles } from '../../src/ledger/proof-bundles.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';

async function served(options: Partial<LedgerOptions> = {}) {
  const dataDir = folder();
  const ledger = await open(dataDir, options);
  const { publicationDelayMs = 0, clock } = options;
  const reader = await SnapshotReader.open({
    ...{ dataDir, publicationDelayMs, scrub: 'by hand' },
    ...(clock && { clock }),
  });
  onTestFinished(() => reader.close());
  let calls = 0;
  const counted: Pick<Ledger, 'checkpoint'> = {
    checkpoint: (view) => {
      calls++;
      return ledger.checkpoint(view);
    },
  };
  const bundles = new ProofBundles({ reader, ledger: counted, published: () => counted.checkpoint() });
  const get = (leaf: LeafQuery, view: LogView = 'current') => bundles.get(view, leaf);
  return { ledger, get, calls: () => calls };
}

test('bundles of entries covered by the published checkpoint need at most one call of the ledger per second', async () => {
  const { ledger, get, calls } = await served();
  await ledger.append(entries(0, 300));
  const began = performance.now();
  for (let index = 0; index < 300; index++) {
    const { checkpoint, leaf } = await get({ leaf_index: index });
    expect([checkpoint?.published, leaf.leaf_index]).toEqual([true, index]);
  }
  expect(calls()).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000);
});

test('the bundle of the newest entry carries a checkpoint that covers it', async () => {
  const { ledger, get } = await served();
  for (let n = 0; n < 20; n++) {
    await ledger.append([entry(n)]);
    const { checkpoint, head } = await get({ entry_id: entry(n).id });
    expect([head.tree_size, checkpoint?.published, checkpoint?.consistency]).toEqual([n + 1, true, []]);
  }
});

test('before publication, readers of the current log get a checkpoint signed only for their bundle', async () => {
  let now = BigInt(Date.now()) * 1_000_000n;
  const { ledger, get } = await served({ publicationDelayMs: 60_000, clock: () => now });
  now += 1_000_000_000n;
  await ledger.append(entries(0, 5));
  expect((await get({ leaf_index: 4 })).checkpoint).toMatchObject({ published: false });
  expect(await codeOf(get({ leaf_index: 4 }, 'published'))).toBe('LOG_EMPTY');
  now += 70_000_000_000n;
  await ledger.append(entries(5, 6)); // first signs a head for the publication boundary that has just passed
  now += 61_000_000_000n;
  expect((await get({ leaf_index: 4 }, 'published')).checkpoint).toMatchObject({ published: true });
  expect(await codeOf(get({ leaf_index: 5 }, 'published'))).toBe('INVALID_REQUEST');
});

test('a bundle reflects key changes immediately', async () => {
  const { ledger, get } = await served();
  await ledger.append(entries(0, 3));
  await get({ leaf_index: 0 });
  const { kid: revoked } = await ledger.revokeKey(await activeKey(ledger, 'checkpoint'), 'stolen', 'system');
  const after = await get({ leaf_index: 0 });
  expect(after.checkpoint).toBeDefined();
  expect(after.keys.map(({ kid }) => kid)).not.toContain(revoked);
  await ledger.rotateKey('event-signing', 'system');
  await ledger.append(entries(3, 4));
  const signer = await activeKey(ledger, 'event-signing');
  const { keys } = await get({ entry_id: entry(3).id });
  expect(keys.find(({ kid }) => kid === signer)).toMatchObject({ svc_purpose: 'event-signing' });
  expect(keys.map(({ svc_purpose }) => svc_purpose).sort()).toEqual([
    'checkpoint',
    'event-signing',
    'transparency-sth',
  ]);
});

test('bundles have a checkpoint if the private keys of the log are encrypted', async () => {
  const { ledger, get } = await served({ keyPassphrase: 'correct horse battery staple' });
  await ledger.append(entries(0, 3));
  expect((await get({ leaf_index: 1 })).checkpoint).toMatchObject({ published: true });
});

async function activeKey(ledger: Ledger, purpose: string): Promise<string> {
  const key = (await ledger.keyRecords()).find((one) => one.purpose === purpose && one.state === 'active');
  return key!.kid;
}
