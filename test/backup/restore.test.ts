import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BackupError, DamagedBackupError } from '../../src/backup/backup-error.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { batchOf, finding } from '../store/opened.ts';
import { backUp, newFolder, openParts, type Parts, restore } from './fixture.ts';

/** Prepares a service with entries and an alert that was backed up, continued, and was stopped. */
async function backedUp(grow = 20) {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  await parts.store.commit(batchOf([finding({ severity: 'high' })]));
  parts.pump.wake();
  await parts.pump.idle();
  await parts.ledger.append(entries(0, 10));
  const { id, attributes } = await backUp(parts);
  if (grow > 0) await parts.ledger.append(entries(100, 100 + grow));
  const head = grow > 0 || attributes.sth ? await parts.ledger.head() : undefined;
  await parts.close();
  return { dataDir, id, path: attributes.path!, sth: attributes.sth!, head: head! };
}

async function entryAt(ledger: Parts['ledger'], leafIndex: number) {
  return JSON.parse(Buffer.from((await ledger.leaf({ leaf_index: leafIndex })).canonical).toString());
}

const lines = (dataDir: string) =>
  readFileSync(join(dataDir, 'journal.ndjson'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('a restore into an empty folder continues the log as a new life, with an entry about the restore', async () => {
  const { id, path, sth } = await backedUp();
  const dataDir = newFolder();
  const restored = await restore(path, dataDir);
  expect(restored).toMatchObject({ backupId: id, resumed: false, entry: { leaf_index: sth.tree_size + 1 } });
  expect(restored.replaced).toBeUndefined();
  expect(restored.aside).toBeUndefined();
  expect(readdirSync(dataDir).sort()).toEqual(
    [
      'anchor.json',
      'format.json',
      'instance.json',
      'journal.ndjson',
      'keys',
      'ledger.mdb',
      'ledger.mdb-lock',
      'lock',
      'siem.mdb',
      'siem.mdb-lock',
      'siem.mdb.json',
    ].sort(),
  );
  for (const name of readdirSync(join(dataDir, 'keys')))
    expect(statSync(join(dataDir, 'keys', name)).mode & 0o777).toBe(0o600);
  const { ledger } = await openParts(dataDir);
  const { health, regression } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  expect(regression).toMatchObject({ event: 'restored', to_size: sth.tree_size });
  expect(await entryAt(ledger, sth.tree_size)).toMatchObject({
    kind: 'log.life_started',
    data: {
      reason: 'restored',
      previous: { head: { tree_size: sth.tree_size, root_hash: sth.root_hash } },
      continues_from: { tree_size: sth.tree_size, root_hash: sth.root_hash },
    },
  });
  expect(await entryAt(ledger, sth.tree_size + 1)).toMatchObject({
    kind: 'backup.restored',
    subject: { type: 'backup', id },
    data: { backup_id: id, sth: { tree_size: sth.tree_size, root_hash: sth.root_hash } },
  });
});

test('a restore over a newer log moves existing content aside; entry, journal and status report the loss', async () => {
  const { dataDir, path, sth, head } = await backedUp();
  await expect(restore(path, dataDir)).rejects.toThrow(/--replace/);
  const before = readdirSync(join(dataDir, 'keys'));
  const { replaced, aside } = await restore(path, dataDir, { replace: true });
  expect(replaced).toMatchObject({ tree_size: head.tree_size, root_hash: head.root_hash });
  expect(readdirSync(aside!).sort()).toEqual([
    'anchor.json',
    'instance.json',
    'keys',
    'ledger.mdb',
    'ledger.mdb-lock',
    'siem.mdb',
    'siem.mdb-lock',
    'siem.mdb.json',
  ]);
  expect(readdirSync(join(aside!, 'keys'))).toEqual(before);
  const events = lines(dataDir).map(({ event }) => event);
  expect(events).toEqual(['initialised', 'start', 'restored']);
  const { ledger } = await openParts(dataDir);
  const { health, regression, size } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  expect(regression).toMatchObject({ event: 'restored', from_size: head.tree_size, to_size: sth.tree_size });
  expect(size).toBe(sth.tree_size + 2);
  const { data } = await entryAt(ledger, sth.tree_size + 1);
  expect(data.replaced).toMatchObject({
    tree_size: head.tree_size,
    root_hash: head.root_hash,
  });
});

test('a restore replaces a log together with its anchor on another path', async () => {
  const volume = newFolder();
  const anchorPath = join(volume, 'anchor.json');
  const dataDir = newFolder();
  const parts = await openParts(dataDir, { ledger: { anchorPath } });
  await parts.ledger.append(entries(0, 5));
  const { attributes } = await backUp(parts);
  await parts.ledger.append(entries(5, 9));
  await parts.close();
  const old = readFileSync(anchorPath, 'utf8');
  const { replaced, aside } = await restore(attributes.path!, dataDir, { anchorPath, replace: true });
  expect(replaced?.tree_size).toBe(10);
  expect(readFileSync(join(aside!, 'anchor-elsewhere.json'), 'utf8')).toBe(old);
  expect(JSON.parse(readFileSync(anchorPath, 'utf8')).tree_size).toBe(7);
  const other = newFolder();
  await expect(restore(attributes.path!, other, { anchorPath })).rejects.toThrow(/anchor/);
});

test('a restore over a damaged database succeeds; anchor and journal show what was lost', async () => {
  const { dataDir, path, head } = await backedUp();
  const file = join(dataDir, 'ledger.mdb');
  const bytes = readFileSync(file);
  bytes.fill(0xff, 8192);
  writeFileSync(file, bytes);
  const { replaced } = await restore(path, dataDir, { replace: true });
  expect(replaced?.tree_size).toBe(head.tree_size);
  const { ledger } = await openParts(dataDir);
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
});

test('a restore of the backup of an empty log replaces a log with entries', async () => {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  const { attributes } = await backUp(parts);
  await parts.ledger.append(entries(0, 5));
  await parts.close();
  await restore(attributes.path!, dataDir, { replace: true });
  const { ledger } = await openParts(dataDir);
  const { health, size } = await ledger.status();
  expect({ health, size }).toEqual({ health: { state: 'ok' }, size: 2 });
});

test("a restore leaves other files in place: other backups, the folder of the anchor, the operator's files", async () => {
  const dataDir = newFolder();
  const others = ['archive', 'lost+found', 'tls', 'anchors'];
  for (const name of others) mkdirSync(join(dataDir, name));
  writeFileSync(join(dataDir, 'tls', 'key.pem'), 'key');
  const anchorPath = join(dataDir, 'anchors', 'anchor.json');
  const parts = await openParts(dataDir, {
    ledger: { anchorPath },
    backups: { dir: join(dataDir, 'archive') },
  });
  await parts.ledger.append(entries(0, 5));
  const older = (await backUp(parts)).attributes.path!;
  const newer = (await backUp(parts)).attributes.path!;
  await parts.close();
  const elsewhere = join(newFolder(), 'older');
  cpSync(older, elsewhere, { recursive: true });
  const { aside } = await restore(elsewhere, dataDir, { anchorPath, replace: true });
  expect(existsSync(join(newer, 'manifest.json'))).toBe(true);
  expect(readFileSync(join(dataDir, 'tls', 'key.pem'), 'utf8')).toBe('key');
  expect(readdirSync(aside!).sort()).toEqual([
    'anchor-elsewhere.json',
    'instance.json',
    'keys',
    'ledger.mdb',
    'ledger.mdb-lock',
    'siem.mdb',
    'siem.mdb-lock',
    'siem.mdb.json',
  ]);
  const { ledger } = await openParts(dataDir, { ledger: { anchorPath } });
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  // A new volume, as created by mkfs, counts as empty.
  const fresh = newFolder();
  mkdirSync(join(fresh, 'lost+found'));
  expect((await restore(elsewhere, fresh)).aside).toBeUndefined();
});

test('a restore replaces a damaged format file, but not the format file of a newer version', async () => {
  const { dataDir, path } = await backedUp(0);
  const file = join(dataDir, 'format.json');
  writeFileSync(file, '{"format":');
  expect(() => takeDataFolder(dataDir)).toThrow(/damaged/);
  await restore(path, dataDir, { replace: true });
  takeDataFolder(dataDir).release();
  writeFileSync(file, '{"format":2}');
  await expect(restore(path, dataDir, { replace: true })).rejects.toThrow(/use a newer version/);
});

describe('a restore is rejected', () => {
  test('while another process holds the folder', async () => {
    const { dataDir, path } = await backedUp(0);
    const folder = takeDataFolder(dataDir);
    await expect(restore(path, dataDir, { replace: true })).rejects.toThrow(/in use by another process/);
    folder.release();
  });

  test('while the folder of the anchor is missing, before any file moves, and the data folder is released', async () => {
    const { dataDir, path } = await backedUp(0);
    const names = readdirSync(dataDir).sort();
    const anchorPath = join(newFolder(), 'unmounted', 'anchor.json');
    await expect(restore(path, dataDir, { anchorPath, replace: true })).rejects.toThrow(/folder of the anchor/);
    expect(readdirSync(dataDir).sort()).toEqual(names);
    takeDataFolder(dataDir).release();
  });

  test('from a folder that is not a backup', async () => {
    await expect(restore(newFolder(), newFolder())).rejects.toThrow(BackupError);
  });

  test('with a flipped byte in any file; nothing is restored', async () => {
    const { path } = await backedUp(0);
    const names = ['siem.mdb', 'ledger.mdb', 'journal.ndjson', 'format.json', 'manifest.json'].concat(
      readdirSync(join(path, 'keys')).map((name) => `keys/${name}`),
    );
    for (const name of names) {
      const copy = join(newFolder(), 'backup');
      cpSync(path, copy, { recursive: true });
      const bytes = readFileSync(join(copy, name));
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(join(copy, name), bytes);
      const dataDir = newFolder();
      const refused = await restore(copy, dataDir).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refused, name).toBeInstanceOf(DamagedBackupError);
      // A manifest that can still be parsed is rejected because of the file that it no longer describes.
      if (name !== 'manifest.json') expect((refused as Error).message).toContain(name);
      expect(readdirSync(dataDir).sort(), name).toEqual(['format.json', 'lock']);
    }
  });

  test('with a missing or truncated file', async () => {
    const { path } = await backedUp(0);
    const dataDir = newFolder();
    writeFileSync(join(path, 'siem.mdb'), readFileSync(join(path, 'siem.mdb')).subarray(0, 5000));
    await expect(restore(path, dataDir)).rejects.toThrow(/siem\.mdb in the backup has 5000 bytes/);
    rmSync(join(path, 'siem.mdb'));
    await expect(restore(path, dataDir)).rejects.toThrow(/siem\.mdb is missing/);
    expect(readdirSync(dataDir).sort()).toEqual(['format.json', 'lock']);
  });

  test('with a manifest that names files outside the backup', async () => {
    const { path } = await backedUp(0);
    const file = join(path, 'manifest.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('journal.ndjson', '../../outside'));
    await expect(restore(path, newFolder())).rejects.toThrow(/files.*name/);
  });
});

describe('the keys of a restore', () => {
  test('are new, and are encrypted with the passphrase; the passphrase of the backup is not needed', async () => {
    const dataDir = newFolder();
    const keyPassphrase = 'a passphrase of some length';
    const parts = await openParts(dataDir, { ledger: { keyPassphrase } });
    await parts.ledger.append(entries(0, 3));
    const { attributes } = await backUp(parts);
    await parts.close();
    for (const name of readdirSync(join(attributes.path!, 'keys')))
      expect(readFileSync(join(attributes.path!, 'keys', name), 'utf8')).not.toContain('"d":');
    await restore(attributes.path!, dataDir, { replace: true, keyPassphrase });
    const { ledger } = await openParts(dataDir, { ledger: { keyPassphrase } });
    expect((await ledger.status()).size).toBe(5);
    for (const name of readdirSync(join(dataDir, 'keys')))
      expect(readFileSync(join(dataDir, 'keys', name), 'utf8')).not.toContain('"d":');
    // The private keys of the backup are not needed: they never sign again.
    const elsewhere = newFolder();
    await restore(attributes.path!, elsewhere);
    expect((await (await openParts(elsewhere)).ledger.status()).health).toEqual({ state: 'ok' });
  });

  test('include the public halves of keys created after the backup, with the tree sizes that these keys signed', async () => {
    const dataDir = newFolder();
    const parts = await openParts(dataDir);
    await parts.ledger.append(entries(0, 5));
    const { attributes } = await backUp(parts);
    const later = await parts.ledger.rotateKey('transparency-sth', 'system');
    await parts.ledger.append(entries(5, 9));
    const lost = await parts.ledger.head();
    expect(lost.signer_key_id).toBe(later.kid);
    await parts.close();
    await restore(attributes.path!, dataDir, { replace: true });
    const restored = await openParts(dataDir);
    const record = (await restored.ledger.keyRecords()).find(({ kid }) => kid === later.kid);
    expect(record).toMatchObject({ state: 'retired', to_size: lost.tree_size });
    expect(readFileSync(join(dataDir, 'keys', `${later.kid}.json`), 'utf8')).not.toContain('"d":');
    expect((await restored.ledger.head()).signer_key_id).not.toBe(later.kid);
  });

  test('stay revoked if they were revoked after the backup, and an active key signs', async () => {
    const dataDir = newFolder();
    const parts = await openParts(dataDir);
    await parts.ledger.append(entries(0, 5));
    const old = (await parts.ledger.head()).signer_key_id;
    const { attributes } = await backUp(parts);
    await parts.ledger.revokeKey(old, 'stolen', 'system');
    await parts.close();
    await restore(attributes.path!, dataDir, { replace: true });
    const { ledger } = await openParts(dataDir);
    const { health, head } = await ledger.status();
    expect(health).toEqual({ state: 'ok' });
    const states = new Map((await ledger.keyRecords()).map(({ kid, state }) => [kid, state]));
    expect([states.get(old), states.get(head!.signer_key_id)]).toEqual(['revoked', 'active']);
  });
});

test('a restored log can be backed up and restored again, although the journal has larger heads', async () => {
  const { dataDir, path, head } = await backedUp();
  await restore(path, dataDir, { replace: true });
  const parts = await openParts(dataDir);
  await parts.ledger.append(entries(200, 203));
  const { attributes } = await backUp(parts);
  expect(attributes).toMatchObject({ state: 'completed', sth: { tree_size: 16 } });
  await parts.ledger.append(entries(300, 350));
  await parts.close();
  const again = await restore(attributes.path!, dataDir, { replace: true });
  expect(again.replaced?.tree_size).toBe(67);
  expect(again.replaced!.tree_size).toBeGreaterThan(head.tree_size);
  const { ledger } = await openParts(dataDir);
  const { health, regression, size } = await ledger.status();
  expect({ health, size }).toEqual({ health: { state: 'ok' }, size: 18 });
  expect(regression).toMatchObject({ from_size: 67, to_size: 16 });
});

test('a backup that was moved to another folder can be restored', async () => {
  const { path } = await backedUp(0);
  const elsewhere = join(newFolder(), 'copy');
  mkdirSync(elsewhere);
  cpSync(path, elsewhere, { recursive: true });
  rmSync(path, { recursive: true });
  const { entry } = await restore(elsewhere, newFolder());
  expect(entry.leaf_index).toBeGreaterThan(0);
});
