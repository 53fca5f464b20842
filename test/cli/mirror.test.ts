/** `candor mirror` against a real ledger behind HTTP; a plain static server serves the folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { auditEntries } from '../../src/client/entries.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { fetchCheckpoint } from '../../src/client/latest.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { nativeVerifier } from '../../src/crypto/ed25519.ts';
import { continueCopy } from '../../src/ledger/lives/continue-copy.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { ServedLog } from '../client/served-log.ts';
import { adminOf, openService } from '../http/service.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { candor, command, Running } from './candor.ts';

let log: ServedLog;
let folder: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = join(mkdtempSync(join(tmpdir(), 'candor-mirror-')), 'log');
});
afterEach(async () => {
  await log.close();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const mirror = (...more: string[]) => command('mirror', log.url, '--to', folder, '--json', ...more);
const fileOf = (path: string) => readFileSync(join(folder, path), 'utf8');

/** Serves only files. */
async function served(): Promise<string> {
  const server = createServer((request, response) => {
    readFile(join(folder, normalize(request.url!))).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Checks the copy as a client does that knows only its URL: checkpoint, tiles, and every entry with its signature.
 */
async function audited(): Promise<number> {
  const copy = httpLog(await served());
  const keys = parseKeySet(fileOf('keys.json'));
  if (keys instanceof AuditFault) throw keys;
  const checkpoint = await fetchCheckpoint(copy, keys);
  if (checkpoint instanceof AuditFault) throw checkpoint;
  const { size, root } = checkpoint;
  const none = { timestampNs: 0n, signature: new Uint8Array(), signerKeyId: '' };
  const found = await auditEntries(copy, { head: { size, root, ...none }, keys }, { verify: nativeVerifier() });
  if (found instanceof AuditFault || 'fault' in found) throw found;
  return found.tree.size;
}

test('candor mirror keeps and updates a copy that a static server can serve', async () => {
  expect(await mirror()).toMatchObject({ code: 0, json: { status: 'empty' } });
  await log.append(300);
  expect(await candor('mirror', log.url, '--to', folder, '--json')).toMatchObject({
    code: 0,
    json: { status: 'extended', tree_size: 300, entries: true },
  });
  expect(await audited()).toBe(300);
  const before = fileOf('checkpoint');
  await log.append(330);
  expect(await mirror()).toMatchObject({ code: 0, json: { status: 'extended', tree_size: 630 } });
  expect(fileOf('checkpoint')).not.toBe(before);
  expect(await audited()).toBe(630);
  // Partial tiles are kept until the full tile exists.
  expect(readdirSync(join(folder, 'tile/0')).sort()).toEqual(['000', '001', '002.p']);
  expect(readdirSync(join(folder, 'tile/entries')).sort()).toEqual(['000', '001', '002.p']);
  expect(readdirSync(join(folder, 'tile/1')).sort()).toEqual(['000.p']);
  expect(await mirror()).toMatchObject({ code: 0, json: { status: 'unchanged', tree_size: 630 } });
});

const damage = (path: string) => {
  const bytes = readFileSync(join(folder, path));
  bytes[40]! ^= 1;
  writeFileSync(join(folder, path), bytes);
};

test('--recheck fetches damaged and missing files again', async () => {
  await log.append(600);
  await mirror();
  const paths = ['tile/0/000', 'tile/entries/001', 'tile/0/002.p/88', 'tile/1/000.p/2'];
  damage('tile/0/000');
  expect(await mirror()).toMatchObject({ code: 0, json: { status: 'unchanged' } });
  await expect(audited()).rejects.toBeInstanceOf(AuditFault);
  for (const path of paths.slice(1)) damage(path);
  rmSync(join(folder, 'tile/0/001'));
  const { code, json } = await mirror('--recheck');
  expect([code, json.status]).toEqual([0, 'rechecked']);
  expect((json.files as string[]).sort()).toEqual([...paths, 'tile/0/001'].sort());
  expect(await audited()).toBe(600);
  expect(await mirror('--recheck')).toMatchObject({ code: 0, json: { status: 'rechecked', repaired: 0 } });
  await log.append(300);
  damage('tile/0/000');
  const files = ['tile/0/000'];
  expect(await mirror('--recheck')).toMatchObject({ code: 0, json: { tree_size: 900, repaired: 1, files } });
  expect(await audited()).toBe(900);
});

test('--recheck names a damaged file that the log no longer serves', async () => {
  await log.append(600);
  await mirror();
  damage('tile/0/000');
  log.lies = [{ path: '/tile/0/000', tell: (body) => `${body.slice(0, -1)}\0` }];
  const { code, json } = await mirror('--recheck');
  expect([code, json.code]).toEqual([exitCodes.refused, 'WRONG_TILE']);
  expect(json.message).toContain('tile/0/000');
  const denied = {
    path: '/tile/entries/002',
    tell: () => ({ status: 403, body: '{"error":{"code":"FORBIDDEN"}}' }),
  };
  log.lies = [denied];
  damage('tile/entries/001');
  const without = await mirror('--recheck');
  expect(without).toMatchObject({ code: exitCodes.refused, json: { code: 'WRONG_TILE' } });
  expect(without.json.message).toContain('tile/entries/001');
});

test('--recheck verifies the folder even if the log serves an older checkpoint', async () => {
  await log.append(300);
  const older = await log.ledger.checkpoint();
  await log.append(300);
  await mirror();
  log.lies = [{ path: '/checkpoint', tell: () => older }];
  damage('tile/0/000');
  expect(await mirror()).toMatchObject({ code: 0, json: { status: 'behind', tree_size: 600 } });
  const files = ['tile/0/000'];
  expect(await mirror('--recheck')).toMatchObject({ code: 0, json: { tree_size: 600, files } });
  expect(await audited()).toBe(600);
});

test('candor mirror rejects a tile that the signed root does not cover; the folder can still be served', async () => {
  await log.append(300);
  await mirror();
  const before = fileOf('checkpoint');
  await log.append(300);
  log.lies = [{ path: '/tile/0/001', tell: (body) => `${body.slice(0, -1)}\0` }];
  expect(await mirror()).toMatchObject({ code: exitCodes.refused, json: { code: 'WRONG_TILE' } });
  expect([fileOf('checkpoint'), existsSync(join(folder, 'tile/0/001'))]).toEqual([before, false]);
  expect(await audited()).toBe(300);
  log.lies = [];
  expect(await mirror()).toMatchObject({ code: 0, json: { tree_size: 600 } });
  expect(await audited()).toBe(600);
});

test('a log in a new life does not change the folder, and is mirrored into a new folder', async () => {
  await log.append(3);
  await mirror();
  const before = fileOf('checkpoint');
  await log.tamper((dataDir) => continueCopy({ dataDir }).then(() => undefined));
  const { code, json, stderr } = await mirror();
  expect([code, json.code, fileOf('checkpoint')]).toEqual([exitCodes.refused, 'NEW_LIFE', before]);
  const { sth_key_fingerprint: fingerprint } = await log.ledger.status();
  expect(stderr).toContain(`fingerprint ${fingerprint}, mirror the log into a new folder`);
  folder = join(folder, '..', 'new');
  expect((await mirror()).json).toMatchObject({ status: 'extended', tree_size: 4 });
  expect(await audited()).toBe(4);
});

test('a forked log does not change the folder, and leaves evidence that convicts the log', async () => {
  await log.append(3);
  const copy = await log.snapshot();
  await log.append(2);
  await mirror();
  const before = fileOf('checkpoint');
  log.now += 1000;
  await log.restore(copy);
  await log.append(10);
  const { code, json } = await mirror();
  expect([code, fileOf('checkpoint')]).toEqual([exitCodes.misbehaviour, before]);
  expect(await audited()).toBe(5);
  expect(JSON.parse(readFileSync(String(json.evidence), 'utf8'))).toMatchObject({ convicts: true });
});

test('candor mirror follows the log with --watch, survives an outage, reports each change once, and ends when the log forks', async () => {
  await log.append(3);
  const copy = await log.snapshot();
  const watched = new Running('mirror', log.url, '--to', folder, '--json', '--watch', '--interval', '1');
  expect(await watched.line(0)).toMatchObject({ status: 'extended', tree_size: 3 });
  let rounds = 0;
  const count = (body: string) => {
    rounds += 1;
    return body;
  };
  log.lies = [{ path: '/checkpoint', tell: count }];
  // A round without changes reports nothing.
  await vi.waitFor(() => expect(rounds).toBeGreaterThan(1), 60_000);
  await log.append(2);
  expect(await watched.line(1)).toMatchObject({ status: 'extended', tree_size: 5 });
  const before = fileOf('checkpoint');
  log.lies = [{ path: '/api/transparency/sth', tell: () => ({ status: 503, body: '{}' }) }];
  expect(await watched.line(2)).toMatchObject({ status: 'fault', code: 'UNAVAILABLE' });
  log.lies = [];
  expect(await watched.line(3)).toMatchObject({ status: 'unchanged', tree_size: 5 });
  log.now += 1000;
  await log.restore(copy);
  await log.append(9);
  expect(await watched.ended).toBe(exitCodes.misbehaviour);
  expect(watched.lines.slice(4)).toMatchObject([{ code: 'INCONSISTENT', evidence: expect.any(String) }]);
  expect(fileOf('checkpoint')).toBe(before);
  expect(await audited()).toBe(5);
});

test('without a pin, an altered checkpoint is rejected, and a fork is saved as evidence', async () => {
  await log.append(3);
  const copy = await log.snapshot();
  await log.append(2);
  await mirror();
  rmSync(join(folder, 'pin.json'));
  const original = fileOf('checkpoint');
  const altered = original.split('\n').with(2, Buffer.alloc(32).toString('base64')).join('\n');
  writeFileSync(join(folder, 'checkpoint'), altered);
  expect(await mirror()).toMatchObject({ code: exitCodes.refused });
  writeFileSync(join(folder, 'checkpoint'), original);
  log.now += 1000;
  await log.restore(copy);
  await log.append(10);
  const { code, json } = await mirror();
  expect([code, fileOf('checkpoint')]).toEqual([exitCodes.refused, original]);
  expect(JSON.parse(readFileSync(String(json.evidence), 'utf8'))).toMatchObject({ convicts: false });
});

test.each([
  ['in the pin', (pin: string) => pin],
  ['only in the folder', (pin: string) => pin.replace(/"checkpoint_ahead":"[^"]*",/, '')],
])('a checkpoint that contradicts the checkpoint %s convicts the log; the folder is unchanged', async (_, edited) => {
  await log.append(5);
  const five = await (await fetch(`${log.url}/api/transparency/sth`)).text();
  const copy = await log.snapshot();
  await log.append(4);
  log.lies = [{ path: '/api/transparency/sth', tell: () => five }];
  await mirror();
  const note = fileOf('checkpoint');
  writeFileSync(join(folder, 'pin.json'), edited(fileOf('pin.json')));
  log.now += 1000;
  await log.restore(copy);
  await log.append(4);
  const { code, json } = await mirror();
  expect([code, fileOf('checkpoint')]).toEqual([exitCodes.misbehaviour, note]);
  const checkpoints = [note, await log.ledger.checkpoint()];
  expect(JSON.parse(readFileSync(String(json.evidence), 'utf8'))).toMatchObject({
    convicts: true,
    checkpoints,
  });
});

test('candor mirror leaves a folder that can be served if killed at any tile, and continues from there', async () => {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  await log.append(300);
  await mirror();
  const before = fileOf('checkpoint');
  await log.append(700);
  for (const path of ['/tile/0/001', '/tile/entries/002', '/tile/entries/003.p/232']) {
    let child: ChildProcess | undefined;
    const kill = (body: string) => {
      child!.kill('SIGKILL');
      return body;
    };
    log.lies = [{ path, tell: kill }];
    child = spawn(process.execPath, [main, 'mirror', log.url, '--to', folder], { stdio: 'ignore' });
    const signal = await new Promise((resolve) => child!.once('exit', (_, by) => resolve(by)));
    expect([signal, fileOf('checkpoint')]).toEqual(['SIGKILL', before]);
    expect(await audited()).toBe(300);
  }
  log.lies = [];
  expect(await mirror()).toMatchObject({ code: 0, json: { tree_size: 1000 } });
  expect(await audited()).toBe(1000);
});

test('candor mirror copies only hashes without a token, and reports this; with a token, it copies the entries, too', async () => {
  const service = await openService();
  onTestFinished(() => service.close());
  await service.ledger.append(entries(0, 600));
  const run = (...more: string[]) => command('mirror', service.url, '--to', folder, ...more);
  const { code, stdout } = await run();
  expect([code, stdout]).toEqual([0, expect.stringContaining('Hashes only')]);
  expect(existsSync(join(folder, 'tile/entries'))).toBe(false);
  await service.ledger.rotateKey('event-signing', 'system');
  const token = await adminOf(service);
  await service.pump.idle();
  expect(await run('--token', token)).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining('Hashes only'),
  });
  expect(await audited()).toBeGreaterThanOrEqual(602);
  expect(fileOf('keys.json').match(/"event-signing"/g)).toHaveLength(2);
});
