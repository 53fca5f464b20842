import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lines } from '../../src/cli/fsck.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { BlockStore } from '../../src/events/store/block-store.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { type FindingCode, findingCodes } from '../../src/ledger/check/findings.ts';
import type { FsckReport } from '../../src/ledger/check/fsck.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { openReader } from '../../src/store/reader.ts';
import { openStore } from '../../src/store/writer.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { backUp, newFolder, openParts } from '../backup/fixture.ts';
import { alertsOf } from '../backup/writers.ts';
import { blockOf, openSealer } from '../events/store/sealing.ts';
import { principal, system } from '../identities/store/identity-records.ts';
import { copyOf, fileOf, flipIn, hashOf, logOf } from '../ledger/damaged-log.ts';
import { entries, folder, open } from '../ledger/fixture.ts';
import { networkRecord } from '../store/records.ts';
import { candor, candorIn, command } from './candor.ts';

const timeout = 300_000;

test('for an intact log, candor fsck exits with 0 and prints size and root, as text and as JSON, for a folder, a file or CANDOR_DATA_DIR', {
  timeout,
}, async () => {
  const log = await logOf(5, 20);
  const [before, names] = [hashOf(fileOf(log)), readdirSync(log.dataDir)];
  const root = bytesToHex(log.heads[1]!.root);
  const people = await candor('fsck', log.dataDir, '--signatures');
  expect(people).toMatchObject({ code: exitCodes.ok, stderr: '' });
  expect(people.stdout).toContain(root);
  expect(people.stdout).toContain('No damage');
  expect(people.stdout).toMatch(/\nThe signature of every entry was verified\.\n$/);
  const status = { status: 'ok', tree_size: 20, root_hash: root, findings: [], counts: {} };
  const file = await command('fsck', fileOf(log), '--json');
  expect(JSON.parse(file.stdout)).toMatchObject({ ...status, entry_signatures: false });
  const unsigned = await command('fsck', fileOf(log));
  expect(unsigned.stdout).toMatch(/\nThe signatures of the entries were not verified; use --signatures .*\n$/);
  const configured = await candorIn({ CANDOR_DATA_DIR: log.dataDir }, 'fsck', '--json', '--progress');
  expect(JSON.parse(configured.stdout)).toMatchObject(status);
  expect(configured.stderr).toMatch(/leaves 20 of 20/);
  expect(hashOf(fileOf(log))).toBe(before);
  expect(readdirSync(log.dataDir)).toEqual(names);
});

test('for a damaged log, candor fsck exits with 4, and each finding has its code, position and advice', {
  timeout,
}, async () => {
  const log = await logOf(5, 20);
  flipIn(log, log.canonical[7]!, 12);
  const json = await candor('fsck', log.dataDir, '--json');
  expect(json.code).toBe(exitCodes.refused);
  expect(JSON.parse(json.stdout)).toMatchObject({
    status: 'damaged',
    counts: { entry_altered: 1 },
    findings: expect.arrayContaining([
      {
        code: 'entry_altered',
        position: 7,
        message: expect.any(String),
        advice: expect.stringContaining('candor'),
      },
    ]),
  });
  const people = await command('fsck', log.dataDir);
  expect(people.stdout).toContain('entry_altered: entry 7 does not match its leaf hash');
  expect(people.stdout).toContain('candor rebuild --dry-run');
  expect(people.stdout).not.toContain('verified');
});

test('each advice appears once, after its findings', () => {
  const finding = (code: FindingCode, message: string) => ({ code, message, ...findingCodes[code] });
  const report = {
    ...{ size: 9, head: undefined, elapsedMs: 1, ok: false, isDamaged: true, isRolledBack: false },
    findings: [
      finding('entry_altered', 'a'),
      finding('node_missing', 'b'),
      finding('entry_missing', 'c'),
      finding('id_index', 'd'),
      finding('anchor_ahead', 'e'),
    ],
    counts: { entry_altered: 1, node_missing: 3, entry_missing: 1, id_index: 1, anchor_ahead: 1 },
  } as unknown as FsckReport;
  expect(lines(report).slice(3)).toEqual([
    'entry_altered: a',
    'entry_missing: c',
    `→ ${findingCodes.entry_altered.advice}`,
    'node_missing: b',
    'id_index: d',
    'and 2 more of node_missing, id_index',
    `→ ${findingCodes.node_missing.advice}`,
    'anchor_ahead: e',
    `→ ${findingCodes.anchor_ahead.advice}`,
  ]);
});

test('for a log that was rolled back, candor fsck exits with 5', { timeout }, async () => {
  const log = await logOf(5);
  const old = copyOf(log);
  const ledger = await open(log.dataDir);
  await ledger.append(entries(5, 9));
  await ledger.close();
  copyFileSync(fileOf(old), fileOf(log));
  const ended = await command('fsck', log.dataDir, '--json');
  expect(ended.code).toBe(exitCodes.misbehaviour);
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'rolled_back', counts: { anchor_ahead: 1 } });
});

test('for a log that is older than siem.mdb, candor fsck exits with 5, although anchor and journal are missing', {
  timeout,
}, async () => {
  const dataDir = newFolder();
  const [file, older] = [join(dataDir, 'ledger.mdb'), join(dataDir, 'older')];
  let backup = '';
  for (const from of [0, 10]) {
    const parts = await openParts(dataDir);
    await parts.store.commit(alertsOf(from, 3));
    parts.pump.wake();
    await parts.pump.idle();
    if (from === 10) backup = (await backUp(parts)).attributes.path!;
    await parts.close();
    if (from === 0) copyFileSync(file, older);
  }
  expect((await command('fsck', dataDir)).code).toBe(exitCodes.ok);
  expect((await command('fsck', backup)).code).toBe(exitCodes.ok); // a backup has no anchor
  rmSync(join(dataDir, 'anchor.json'));
  const noticed = await command('fsck', dataDir, '--json');
  expect(noticed.code).toBe(exitCodes.refused);
  expect(JSON.parse(noticed.stdout)).toMatchObject({ status: 'noticed', counts: { anchor_missing: 1 } });
  rmSync(join(dataDir, 'journal.ndjson'));
  copyFileSync(older, file);
  const names = readdirSync(dataDir);
  const ended = await command('fsck', dataDir, '--json');
  expect(ended.code).toBe(exitCodes.misbehaviour);
  const { status, counts, findings } = JSON.parse(ended.stdout);
  expect({ status, counts }).toEqual({
    status: 'rolled_back',
    counts: { anchor_missing: 1, journal_missing: 1, store_ahead: 1 },
  });
  const message = 'The event database has an alert logged as leaf 5, but the log has 3 leaves.';
  expect(findings).toContainEqual(expect.objectContaining({ code: 'store_ahead', message, position: 5 }));
  expect(readdirSync(dataDir)).toEqual(names);
});

test('while a service holds the folder, or if the folder has no log, candor fsck exits with 3 and prints one line', {
  timeout,
}, async () => {
  const log = await logOf(5);
  const held = takeDataFolder(log.dataDir);
  const ended = await command('fsck', log.dataDir);
  held.release();
  expect(ended).toMatchObject({ code: exitCodes.unavailable, stdout: '' });
  expect(ended.stderr).toMatch(
    /^candor: data folder .* is in use by another process; stop it or check a backup of it\n$/,
  );
  const empty = await command('fsck', join(folder(), 'nothing'));
  expect(empty).toMatchObject({ code: exitCodes.unavailable, stdout: '' });
  expect(empty.stderr).toContain('there is no ledger.mdb');
});

test('candor fsck finds damage of siem.mdb in a row, a block and the tree, and does not change the file', {
  timeout,
}, async () => {
  const log = await logOf(5, 20);
  const path = join(log.dataDir, 'siem.mdb');
  const store = openStore({ dataDir: log.dataDir, alertWindowMs: 1 });
  const builder = new BlockBuilder('network', 0);
  builder.add(networkRecord());
  await store.createPrincipal(principal('admin'), system);
  const answer = { accepted: 1, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  await store.commit({ blocks: [builder.finish()], answer });
  await store.close();
  rmSync(`${path}-lock`);
  expect((await command('fsck', log.dataDir)).code).toBe(exitCodes.ok);
  const root = openDatabase(path);
  for (const table of ['principals', 'event-headers']) {
    const rows = root.openDB<Buffer, string>({ name: table, encoding: 'binary' });
    for (const { key, value } of [...rows.getRange({ limit: 1 })]) {
      value[0]! ^= 1;
      rows.putSync(key, value);
    }
  }
  await root.close();
  rmSync(`${path}-lock`);
  const [before, names] = [hashOf(path), readdirSync(log.dataDir)];
  const { code, stdout } = await command('fsck', log.dataDir);
  expect(code).toBe(exitCodes.refused);
  expect(stdout).toMatch(/store_damaged: siem\.mdb: 1 network events of unknown time \(block 1\)/);
  expect(stdout).toMatch(/store_damaged: siem\.mdb: row principals /);
  expect(stdout).toContain('loses every entry after the backup');
  expect([hashOf(path), readdirSync(log.dataDir)]).toEqual([before, names]);

  const file = readFileSync(path);
  // The bounds of each page after the two meta pages.
  for (let page = 2 * 4096; page < file.length; page += 4096) file.fill(0xff, page + 18, page + 20);
  writeFileSync(path, file);
  const tree = JSON.parse((await command('fsck', log.dataDir, '--json')).stdout);
  expect(tree.status).toBe('damaged');
  const message = expect.stringMatching(/^siem\.mdb: page \d+, in the table tables, is not valid/);
  const advice = expect.stringContaining('loses every entry after the backup');
  expect(tree.findings).toContainEqual(expect.objectContaining({ code: 'store_damaged', message, advice }));
});

test('candor fsck reports an event that was altered together with its checksums, because it differs from its seal', {
  timeout,
}, async () => {
  const log = await logOf(5, 20);
  const path = join(log.dataDir, 'siem.mdb');
  const store = openStore({ dataDir: log.dataDir, alertWindowMs: 1 });
  const reader = openReader(log.dataDir);
  const answer = { accepted: 3, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  const sealer = await openSealer(store, reader);
  await store.commit({ blocks: [blockOf('network', 3)], answer });
  expect(await sealer.seal()).toBe(true);
  await sealer.close();
  reader.close();
  await store.close();
  rmSync(`${path}-lock`);
  expect((await command('fsck', log.dataDir)).stdout).not.toContain('events_altered');
  const root = openDatabase(path);
  const blocks = new BlockStore(root);
  blocks.transaction(() => {
    blocks.remove(1, blocks.verify('network', 1).header);
    blocks.put(1, blockOf('network', 3, { records: [{ src_port: 7 }] }));
  });
  await root.close();
  rmSync(`${path}-lock`);
  const { code, stdout } = await command('fsck', log.dataDir, '--json');
  expect(code).toBe(exitCodes.refused);
  const message = expect.stringMatching(/^siem\.mdb: network events 1 to 3 differ from the events that entry /);
  expect(JSON.parse(stdout).findings).toContainEqual(expect.objectContaining({ code: 'events_altered', message }));
});
