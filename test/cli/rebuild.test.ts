import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { maxFileBytes } from '../../src/cli/read-input.ts';
import type { Health } from '../../src/contract/resources/health.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { toJson } from '../../src/ledger/heads.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { startParts } from '../backup/parts.ts';
import { fileOf, flipIn, headRow, type KnownLog, logOf, scribble, tamper } from '../ledger/damaged-log.ts';
import { entry, folder, open } from '../ledger/fixture.ts';
import { candor, candorIn, command } from './candor.ts';

const timeout = 300_000;

/** Makes a log whose entry 7 cannot be read. */
async function withoutEntry(): Promise<KnownLog> {
  const log = await logOf(5, 20);
  scribble(log, (bytes) => {
    const wanted = log.canonical[7]!;
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) bytes.fill(7, at, at + 9);
  });
  return log;
}

test("candor rebuild reports what it would do, refuses to lose signed entries, and continues with the operator's consent", {
  timeout,
}, async () => {
  const log = await withoutEntry();
  const at = ['--data-dir', log.dataDir];
  const planned = await command('rebuild', '--dry-run', ...at);
  expect(planned.code).toBe(exitCodes.ok);
  for (const part of ['recovered    5 entries', 'lost         entries 5 to 19', entry(7).id, 'Nothing was changed'])
    expect(planned.stdout).toContain(part);

  const refused = await command('rebuild', '--json', ...at);
  expect(refused.code).toBe(exitCodes.degraded);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    ...{
      status: 'refused',
      tree_size: 5,
      previous_tree_size: 20,
      lost_from: 5,
      lost_to: 20,
      lost_head_count: 1,
    },
    lost_heads: [{ tree_size: 20 }],
    lost_ids: { 7: entry(7).id },
  });

  const rebuilt = await command('rebuild', '--accept-loss', '--json', ...at);
  expect(rebuilt.code).toBe(exitCodes.ok);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({
    status: 'rebuilt',
    kept: expect.stringContaining('ledger.mdb.damaged-'),
  });
  const ledger = await open(log.dataDir);
  expect(await ledger.status()).toMatchObject({
    size: 6,
    health: { state: 'ok' },
    regression: { from_size: 20, to_size: 5 },
  });
  await ledger.close();
  expect((await command('fsck', log.dataDir)).code).toBe(exitCodes.ok);
  const whole = await command('rebuild', ...at);
  expect(whole).toMatchObject({
    code: exitCodes.ok,
    stdout: expect.stringContaining('Nothing to do'),
  });
});

test('candor rebuild accepts a head from a file, and gives advice if no head matches', { timeout }, async () => {
  const log = await withoutEntry();
  const at = ['--data-dir', log.dataDir];
  flipIn(log, headRow(log.heads[0]!), 3);
  const hopeless = await command('rebuild', '--accept-loss', ...at);
  expect(hopeless).toMatchObject({
    code: exitCodes.degraded,
    stdout: expect.stringContaining('--head <pin>'),
  });
  const pin = join(folder(), 'head.json');
  writeFileSync(pin, `${writeTreeHead(toJson(log.heads[0]!))}\n`);
  const saved = await command('rebuild', '--accept-loss', '--head', pin, '--json', ...at);
  expect(JSON.parse(saved.stdout)).toMatchObject({ status: 'rebuilt', tree_size: 5 });
  writeFileSync(pin, '{}');
  expect(await command('rebuild', '--head', pin, ...at)).toMatchObject({
    ...{ code: exitCodes.failed, stderr: expect.stringContaining('neither a pin nor a signed head') },
  });
  truncateSync(pin, maxFileBytes + 1);
  expect(await candor('rebuild', '--head', pin, ...at)).toMatchObject({
    ...{ code: exitCodes.failed, stderr: expect.stringContaining(`${pin} has ${maxFileBytes + 1} bytes`) },
  });
});

test('candor rebuild begins a new log only after the old log was lost', { timeout }, async () => {
  const log = await logOf(5);
  const at = ['--data-dir', log.dataDir];
  expect(await command('rebuild', '--begin-anew', ...at)).toMatchObject({
    ...{ code: exitCodes.failed, stderr: expect.stringContaining('has a log') },
  });
  rmSync(fileOf(log));
  expect(await command('rebuild', ...at)).toMatchObject({
    ...{
      code: exitCodes.failed,
      stderr: expect.stringMatching(/there is no ledger\.mdb .*candor restore.*--begin-anew/),
    },
  });
  const begun = await command('rebuild', '--begin-anew', '--json', ...at);
  expect(begun.code).toBe(exitCodes.ok);
  const { status, kept, replaced_tree_size } = JSON.parse(begun.stdout);
  expect({ status, replaced_tree_size }).toEqual({ status: 'begun', replaced_tree_size: 5 });
  expect(readdirSync(kept).sort()).toEqual(expect.arrayContaining(['anchor.json', 'journal.ndjson', 'keys']));
  expect((await (await open(log.dataDir)).status()).health).toEqual({ state: 'ok' });
});

test('candor rebuild accepts an older siem.mdb only if there is a log', { timeout }, async () => {
  const log = await logOf(5);
  const at = ['--accept-older-store', '--json', '--data-dir', log.dataDir];
  const accepted = await command('rebuild', ...at);
  expect(JSON.parse(accepted.stdout)).toMatchObject({ status: 'accepted' });
  expect(JSON.parse(readFileSync(join(log.dataDir, 'siem.mdb.json'), 'utf8'))).toMatchObject({ accepted: 5 });
  rmSync(fileOf(log));
  expect(await command('rebuild', ...at)).toMatchObject({
    ...{ code: exitCodes.failed, stderr: expect.stringContaining('there is no ledger.mdb') },
  });
});

test('candor rebuild does not touch a folder in use', { timeout }, async () => {
  const log = await logOf(5);
  const held = takeDataFolder(log.dataDir);
  const ended = await command('rebuild', '--data-dir', log.dataDir);
  held.release();
  expect(ended).toMatchObject({ code: exitCodes.unavailable, stderr: expect.stringContaining('in use') });
});

describe('a service with an incomplete write in its log', () => {
  test('ingests and serves, exits with --strict, and starts again after a rebuild', async () => {
    const dataDir = folder();
    const before = await startParts(dataDir);
    for (let i = 0; i < 4; i++) await before.ledger.append([entry(i)]);
    await before.close();
    await tamper({ dataDir }, 'entries', (rows) => {
      const [last] = rows.getKeys({ reverse: true, limit: 1 });
      rows.removeSync(last!);
    });

    const degraded = await startService({ dataDir });
    const health = async (service: Service) => (await fetch(`${service.url}/health`)).json() as Promise<Health>;
    expect(await health(degraded)).toMatchObject({ status: 'degraded', ledger: 'half_written' });
    const sent = await fetch(`${degraded.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await login(degraded)}`, 'content-type': 'application/x-ndjson' },
      body: '{"_path":"conn","ts":1763700000,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.2","id.resp_p":2,"proto":"tcp"}\n',
    });
    expect(sent.status).toBe(200);
    expect((await fetch(`${degraded.url}/api/transparency/sth`)).status).toBe(200);
    await degraded.stop();

    const strict = await candorIn({ CANDOR_DATA_DIR: dataDir, CANDOR_PORT: '0' }, 'start', '--strict');
    expect(strict).toMatchObject({
      code: exitCodes.degraded,
      stderr: expect.stringContaining('candor rebuild'),
    });
    expect(strict.stdout).toContain('DEGRADED: half_written');

    expect((await command('fsck', dataDir)).code).toBe(exitCodes.refused);
    expect((await candor('rebuild', '--data-dir', dataDir, '--accept-loss')).code).toBe(exitCodes.ok);
    const after = await startService({ dataDir });
    const shown = await health(after);
    expect(shown).toMatchObject({ status: 'ok', ledger: 'ok' });
    expect((await command('fsck', dataDir)).code).toBe(exitCodes.unavailable); // The service is running.
    const metrics = await (await fetch(`${after.url}/metrics`)).text();
    const lost = /^candor_ledger_regression_leaves (\d+)$/m.exec(metrics)?.[1];
    const { from_size = 0, to_size = 0 } = shown.regression ?? {};
    expect(Number(lost)).toBe(from_size - to_size);
    await after.stop();
  });
});
