import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { openParts } from '../backup/fixture.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { candor, candorIn } from './candor.ts';

let folder: string;
let dataDir: string;
let service: Service | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-restore-'));
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  await service?.kill().catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a free port, so that the URL is the same after every start: an auditor's pin belongs to one URL. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

describe('the commands candor backup and candor restore', () => {
  test('restore a log with new keys, which auditors with a pin of the old log reject', async () => {
    const port = await freePort();
    const start = async () => {
      service = await startService({ dataDir, env: { CANDOR_PORT: String(port) } });
      return service;
    };
    const audit = (pin: string) =>
      candor('audit', running.url, '--strict-keys', '--state', join(folder, pin), '--json');

    let running = await start();
    for (let n = 0; n < 3; n++) await tokenFor(running, 'viewer');
    expect((await audit('early')).json).toMatchObject({ status: 'pinned' });
    await tokenFor(running, 'viewer');
    const made = await candor('backup', running.url, '--token', await login(running), '--json');
    expect(made).toMatchObject({ code: exitCodes.ok, json: { status: 'completed' } });
    const { path, backup_id, tree_size, root_hash } = made.json as Record<string, string>;
    for (let n = 0; n < 5; n++) await tokenFor(running, 'viewer');
    const late = await audit('late');
    expect(late.json).toMatchObject({ status: 'pinned' });
    const lost = Number((late.json as { tree_size: number }).tree_size);

    const inUse = await candor('restore', path!, '--data-dir', dataDir, '--replace');
    expect(inUse).toMatchObject({
      code: exitCodes.unavailable,
      stderr: expect.stringContaining('in use by another process'),
    });
    await running.stop();
    const careful = await candor('restore', path!, '--data-dir', dataDir);
    expect(careful).toMatchObject({ code: exitCodes.failed, stderr: expect.stringContaining('--replace') });
    const restored = await candor('restore', path!, '--data-dir', dataDir, '--replace', '--json');
    expect(restored).toMatchObject({
      code: exitCodes.ok,
      json: {
        status: 'restored',
        backup_id,
        backup_tree_size: tree_size,
        backup_root_hash: root_hash,
        leaf_index: Number(tree_size) + 1,
      },
    });
    expect((restored.json as { replaced_tree_size: number }).replaced_tree_size).toBeGreaterThanOrEqual(lost);

    running = await start();
    expect(running.output.join('\n')).toMatch(/regression +restored from a backup .*went back from/);
    const health = await (await fetch(`${running.url}/health`)).json();
    expect(health).toMatchObject({ status: 'ok', ledger: 'ok', regression: { event: 'restored' } });
    // No chain of rotations leads to the keys of a new life, so a pin of the old life cannot follow them.
    for (let n = 0; n < 8; n++) await tokenFor(running, 'viewer');
    expect((await audit('late')).code).not.toBe(exitCodes.ok);
    expect((await audit('early')).code).not.toBe(exitCodes.ok);
    await running.stop();
  });

  test('back up a stopped service from its folder; if the service runs, the folder is rejected and the error suggests the URL', async () => {
    const anchor = join(folder, 'anchor.json');
    const env = { CANDOR_DATA_DIR: dataDir, CANDOR_LEDGER_ANCHOR_PATH: anchor };
    service = await startService({ dataDir, env });
    await tokenFor(service, 'viewer');
    const refused = await candor('backup', '--data-dir', dataDir);
    expect(refused).toMatchObject({
      code: exitCodes.unavailable,
      stderr: expect.stringContaining('candor backup <url>'),
    });
    await service.stop();
    const made = await candorIn(env, 'backup', '--data-dir', dataDir, '--json');
    expect(made).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'completed', path: expect.any(String) },
    });
    const { path } = made.json as { path: string };

    // A drill in another folder leaves the configured anchor alone, because it belongs to the configured
    // folder.
    const before = readFileSync(anchor, 'utf8');
    const drill = join(folder, 'drill');
    expect(await candorIn(env, 'restore', path, '--data-dir', drill, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'restored' },
    });
    expect((await candorIn(env, 'restore', path, '--data-dir', drill, '--replace')).code).toBe(exitCodes.ok);
    expect((await candorIn(env, 'backup', '--data-dir', drill)).code).toBe(exitCodes.ok);
    expect((await candorIn(env, 'rebuild', '--data-dir', drill)).code).toBe(exitCodes.ok);
    expect(readFileSync(anchor, 'utf8')).toBe(before);
    expect(readdirSync(drill)).toContain('anchor.json');
    // A different spelling of the same path is the configured folder.
    expect((await candorIn(env, 'restore', path, '--data-dir', `${dataDir}/.`)).stderr).toContain('--replace');
    service = await startService({ dataDir, env });
    expect(await (await fetch(`${service.url}/health`)).json()).toMatchObject({ ledger: 'ok' });
    await service.stop();
    service = await startService({ dataDir: drill });
    expect(await login(service)).toBeTruthy();
    await service.stop();
  });

  test('reject a damaged backup with a separate code, and name the file', async () => {
    const parts = await openParts(dataDir);
    await parts.ledger.append(entries(0, 2));
    await parts.close();
    const { path } = (await candor('backup', '--data-dir', dataDir, '--json')).json as { path: string };
    const copy = join(folder, 'copy');
    cpSync(path, copy, { recursive: true });
    const [key] = readdirSync(join(copy, 'keys'));
    const file = join(copy, 'keys', key!);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"x":"', '"x":"A'));
    expect(await candor('restore', copy, '--data-dir', join(folder, 'other'))).toMatchObject({
      code: exitCodes.refused,
      stderr: expect.stringContaining(key!),
    });
  });

  test('report invalid usage', async () => {
    expect((await candor('backup')).code).toBe(exitCodes.usage);
    expect((await candor('restore')).code).toBe(exitCodes.usage);
    expect(await candor('backup', '--data-dir', join(folder, 'nothing'))).toMatchObject({
      code: exitCodes.failed,
      stderr: expect.stringContaining('nothing to back up'),
    });
    expect(await candor('backup', 'http://127.0.0.1:1')).toMatchObject({ code: exitCodes.unavailable });
  });
});
