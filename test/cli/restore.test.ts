import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { openParts } from '../backup/fixture.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { call } from '../system/call.ts';
import { candor, command } from './candor.ts';

let folder: string;
let dataDir: string;
let service: Service | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-restore-'));
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  vi.unstubAllEnvs();
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

/** Adds an entry to the log for each token. */
async function issueTokens(running: Service, count: number): Promise<void> {
  const token = await login(running);
  for (let n = 0; n < count; n++) {
    const json = { name: `viewer ${crypto.randomUUID()}`, scopes: ['viewer'] };
    expect((await call(running, 'issueToken', { token, json })).status).toBe(201);
  }
}

describe('the commands candor backup and candor restore', () => {
  test('restore a log with new keys, which auditors with a pin of the old log reject; back up and restore a stopped service', async () => {
    const port = await freePort();
    const anchor = join(folder, 'anchor.json');
    vi.stubEnv('CANDOR_DATA_DIR', dataDir);
    vi.stubEnv('CANDOR_LEDGER_ANCHOR_PATH', anchor);
    const start = async () => {
      service = await startService({ dataDir, env: { CANDOR_PORT: String(port) } });
      return service;
    };
    const audit = (pin: string) =>
      command('audit', running.url, '--strict-keys', '--state', join(folder, pin), '--json');

    let running = await start();
    await issueTokens(running, 1);
    expect((await audit('early')).json).toMatchObject({ status: 'pinned' });
    await issueTokens(running, 1);
    const made = await candor('backup', running.url, '--token', await login(running), '--json');
    expect(made).toMatchObject({ code: exitCodes.ok, json: { status: 'completed' } });
    const { path, backup_id, tree_size, root_hash } = made.json as Record<string, string>;
    await issueTokens(running, 3);
    const late = await audit('late');
    expect(late.json).toMatchObject({ status: 'pinned' });
    const lost = Number((late.json as { tree_size: number }).tree_size);

    const inUse = await command('restore', path!, '--data-dir', dataDir, '--replace');
    expect(inUse).toMatchObject({
      code: exitCodes.unavailable,
      stderr: expect.stringContaining('in use by another process'),
    });
    await running.stop();
    const careful = await command('restore', path!, '--data-dir', dataDir);
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
    await issueTokens(running, 6);
    expect((await audit('late')).code).not.toBe(exitCodes.ok);
    expect((await audit('early')).code).not.toBe(exitCodes.ok);

    const refused = await command('backup', '--data-dir', dataDir);
    expect(refused).toMatchObject({
      code: exitCodes.unavailable,
      stderr: expect.stringContaining('candor backup <url>'),
    });
    await running.stop();
    await checkDrill(anchor);
  });

  /** Backs up the stopped service, and restores the backup into another folder. */
  async function checkDrill(anchor: string): Promise<void> {
    const made = await candor('backup', '--data-dir', dataDir, '--json');
    expect(made).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'completed', path: expect.any(String) },
    });
    const { path } = made.json as { path: string };

    // A drill in another folder leaves the configured anchor alone, because it belongs to the configured
    // folder.
    const before = readFileSync(anchor, 'utf8');
    const drill = join(folder, 'drill');
    expect(await command('restore', path, '--data-dir', drill, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'restored' },
    });
    expect((await command('restore', path, '--data-dir', drill, '--replace')).code).toBe(exitCodes.ok);
    expect((await command('backup', '--data-dir', drill)).code).toBe(exitCodes.ok);
    expect((await command('rebuild', '--data-dir', drill)).code).toBe(exitCodes.ok);
    expect(readFileSync(anchor, 'utf8')).toBe(before);
    expect(readdirSync(drill)).toContain('anchor.json');
    // A different spelling of the same path is the configured folder.
    expect((await command('restore', path, '--data-dir', `${dataDir}/.`)).stderr).toContain('--replace');
    const parts = await openParts(dataDir, { ledger: { anchorPath: anchor } });
    expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
    await parts.close();
    vi.stubEnv('CANDOR_LEDGER_ANCHOR_PATH', undefined);
    service = await startService({ dataDir: drill });
    expect(await login(service)).toBeTruthy();
    await service.stop();
  }

  test('reject a damaged backup with a separate code, and name the file', async () => {
    const parts = await openParts(dataDir);
    await parts.ledger.append(entries(0, 2));
    await parts.close();
    const { path } = (await command('backup', '--data-dir', dataDir, '--json')).json as { path: string };
    const copy = join(folder, 'copy');
    cpSync(path, copy, { recursive: true });
    const [key] = readdirSync(join(copy, 'keys'));
    const file = join(copy, 'keys', key!);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"x":"', '"x":"A'));
    expect(await command('restore', copy, '--data-dir', join(folder, 'other'))).toMatchObject({
      code: exitCodes.refused,
      stderr: expect.stringContaining(key!),
    });
  });

  test('report invalid usage', async () => {
    expect((await command('backup')).code).toBe(exitCodes.usage);
    expect((await command('restore')).code).toBe(exitCodes.usage);
    expect(await command('backup', '--data-dir', join(folder, 'nothing'))).toMatchObject({
      code: exitCodes.failed,
      stderr: expect.stringContaining('nothing to back up'),
    });
    expect(await command('backup', 'http://127.0.0.1:1')).toMatchObject({ code: exitCodes.unavailable });
  });
});
