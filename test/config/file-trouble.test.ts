/** Files that changed, broke or cannot be written while the service runs. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { openStoredSettings } from '../../src/config/stored-settings.ts';
import type { ServiceError } from '../../src/errors.ts';
import { VolumeQueue } from '../../src/files/volume-queue.ts';
import { limits } from '../../src/limits.ts';
import { hangingVolume } from '../files/hanging-volume.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-trouble-'));
  path = join(folder, 'candor.yaml');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function opened(
  text: string,
  env: Record<string, string> = { CANDOR_CONFIG: path },
  volumes?: Parameters<typeof openStoredSettings>[3],
) {
  writeFileSync(path, text);
  const all = { CANDOR_DATA_DIR: folder, ...env };
  return openStoredSettings(all, loadSettings(all), [], volumes);
}

test('a file on a hanging volume blocks nothing: settings in effect are shown, and changes are refused', async () => {
  const { volume: file, answer } = await hangingVolume();
  const stored = opened('port: 9000', { CANDOR_CONFIG: path }, { file, paths: new VolumeQueue('x') });
  const problem = 'the volume has not answered for 0.2 s; repair its volume';
  expect(await stored.read()).toMatchObject({ active: { port: 9000 }, pending: {}, problem });
  await expect(stored.change({ port: 9001 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'volume_hangs' },
  });
  answer();
  const { pending } = await vi.waitFor(() => stored.change({ port: 9001 }), 60_000);
  expect(pending).toEqual({ port: 9001 });
  expect(readFileSync(path, 'utf8')).toBe('port: 9001\n');
});

async function refused(change: Promise<unknown>): Promise<{ code: string; field: unknown; message: string }> {
  const error = await change.then(
    () => undefined,
    (thrown: ServiceError) => thrown,
  );
  if (error === undefined) throw new Error('it was taken');
  expect(error.name, error.stack).toBe('ServiceError');
  return { code: error.code, field: error.details?.field, message: error.message };
}

describe('a concurrent edit', () => {
  test('is read before a change is stored, and is kept', async () => {
    const stored = opened('port: 9000\n');
    writeFileSync(path, 'port: 9001\nlog.level: warn # mine\n');
    const { pending, restart_required } = await stored.change({ 'keys.overlap_ms': 1 });
    expect([pending, restart_required]).toEqual([{ port: 9001, 'log.level': 'warn', 'keys.overlap_ms': 1 }, true]);
    expect(readFileSync(path, 'utf8')).toContain('log.level: warn # mine');
  });

  test.each([
    ['port: [', 'expected plain YAML'],
    ['nonsense: 1', 'nonsense: unknown setting in'],
    ['log.level: loud', 'log.level: got "loud"'],
    ['tls.cert: /cert.pem', 'tls.key: not set'],
  ])(
    'that would prevent a start is shown as a problem, and other changes fail with CONFLICT: %j',
    async (text, why) => {
      const stored = opened('port: 9000\n');
      writeFileSync(path, text);
      expect(await stored.read()).toMatchObject({
        pending: {},
        restart_required: false,
        problem: expect.stringContaining(why),
      });
      expect(await refused(stored.change({ 'keys.overlap_ms': 1 }))).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(why),
      });
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  test('does not block a change that replaces its invalid value', async () => {
    const stored = opened('port: 9000\n');
    writeFileSync(path, 'log.level: loud\n');
    expect(await stored.change({ 'log.level': 'warn' })).toMatchObject({ pending: { 'log.level': 'warn' } });
  });

  test('between reading and writing is kept; continuous edits make the change fail with CONFLICT', async () => {
    const env = { CANDOR_DATA_DIR: folder, CANDOR_CONFIG: path };
    writeFileSync(path, 'port: 9000\n');
    let edits = 1;
    // The check runs between reading and writing.
    const check = () => {
      if (edits-- > 0) writeFileSync(path, `port: 9000\nlog.level: warn\nkeys.overlap_ms: ${edits}\n`);
    };
    const stored = openStoredSettings(env, loadSettings(env), [{ settings: ['port'], check }]);
    await stored.change({ port: 9001 });
    expect(readFileSync(path, 'utf8')).toBe('port: 9001\nlog.level: warn\nkeys.overlap_ms: 0\n');
    edits = 1000;
    expect(await refused(stored.change({ port: 9002 }))).toMatchObject({ code: 'CONFLICT' });
    expect(readFileSync(path, 'utf8')).toContain('port: 9000\n');
  });

  test('that removes the file is shown as a problem, and changes fail with CONFLICT', async () => {
    const stored = opened('port: 9000\n');
    rmSync(path);
    expect((await stored.read()).problem).toContain('ENOENT');
    expect(await refused(stored.change({ port: 1 }))).toMatchObject({ code: 'CONFLICT' });
  });
});

describe('rules between settings', () => {
  test('are checked on the whole file that a change would produce', async () => {
    const stored = opened('port: 9000\n');
    expect(await refused(stored.change({ 'tls.cert': '/cert.pem' }))).toMatchObject({
      code: 'INVALID_REQUEST',
      field: 'settings.tls.key',
    });
    await stored.change({ tls: { cert: '/cert.pem', key: '/key.pem' } });
    expect(await refused(stored.change({ 'tls.key': null }))).toMatchObject({
      code: 'INVALID_REQUEST',
      field: 'settings.tls.key',
    });
    expect((await stored.change({ 'tls.key': null, 'tls.cert': null })).restart_required).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('port: 9000\n');
  });
});

describe('files named by settings', () => {
  test('are checked: an invalid change fails; an existing error is shown, and does not block other changes', async () => {
    const needed = join(folder, 'witnesses');
    const env = { CANDOR_DATA_DIR: folder, CANDOR_CONFIG: path };
    writeFileSync(path, 'port: 9000\n');
    const stored = openStoredSettings(env, loadSettings(env), [
      {
        settings: ['witness.policy'],
        check: ({ 'witness.policy': file }) => {
          if (file !== undefined) readFileSync(file);
        },
      },
    ]);
    expect(await refused(stored.change({ 'witness.policy': needed }))).toMatchObject({
      code: 'INVALID_REQUEST',
      field: 'settings.witness.policy',
    });
    writeFileSync(needed, '');
    expect((await stored.change({ 'witness.policy': needed })).problem).toBeUndefined();
    rmSync(needed);
    const { pending, problem } = await stored.change({ port: 9001 });
    expect(pending).toEqual({ port: 9001, 'witness.policy': needed });
    expect(problem).toMatch(/^witness\.policy: ENOENT/);
  });
});

describe('invalid changes of settings', () => {
  test.each([
    [{ port: 1 }, 'settings.port', /CANDOR_PORT in the environment/],
    [{ port: null }, 'settings.port', /CANDOR_PORT in the environment/],
    [{ data_dir: '/elsewhere' }, 'settings.data_dir', /cannot be changed here/],
    [{ admin_password: 'hunter2hunter2' }, 'settings.admin_password', /a secret/],
    [{ key_passphrase: null }, 'settings.key_passphrase', /a secret/],
    [{ alerts: null }, 'settings.alerts', /a group/],
    [{ alerts: { window_ms: 5000 }, 'alerts.window_ms': 5000 }, 'settings.alerts.window_ms', /twice/],
    [{ 'alerts.window': 5 }, 'settings.alerts.window', /not a known setting/],
    [{ 'log.level': 'loud' }, 'settings.log.level', /got "loud", expected one of trace/],
    [{ 'log.level': 7 }, 'settings.log.level', /got 7, expected one of/],
  ])('are rejected: %j', async (values, field, reason) => {
    const stored = opened('', { CANDOR_CONFIG: path, CANDOR_PORT: '9000' });
    const { code, message, ...rest } = await refused(stored.change(values));
    expect({ code, ...rest }).toEqual({ code: 'INVALID_REQUEST', field });
    expect(message).toMatch(reason);
    expect(message).not.toContain('hunter2');
  });
});

describe('writing the file', () => {
  test("keeps the file's mode; a new file is readable by its owner only", async () => {
    const stored = opened('port: 9000\n');
    chmodSync(path, 0o664);
    await stored.change({ port: 9001 });
    expect(statSync(path).mode & 0o777).toBe(0o664);
    await opened('', {}).change({ port: 9001 });
    expect(statSync(join(folder, 'config.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('{\n  "port": 9001\n}\n');
  });

  test('keeps a symbolic link', async () => {
    const real = join(folder, 'real.yaml');
    writeFileSync(real, 'port: 9000\n');
    symlinkSync(real, path);
    await opened('port: 9000\n').change({ port: 9001 });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toBe('port: 9001\n');
  });

  test('is skipped if a change has no effect', async () => {
    const stored = opened('port:   9000\n');
    const { ino } = statSync(path);
    await stored.change({});
    await stored.change({ port: 9000, 'log.level': 'info', 'tls.cert': null });
    expect([statSync(path).ino, readFileSync(path, 'utf8')]).toEqual([ino, 'port:   9000\n']);
  });

  test('fails with CONFLICT if the file system refuses, and keeps the old file', async () => {
    const stored = opened('port: 9000\n');
    mkdirSync(`${path}.new`);
    expect(await refused(stored.change({ port: 1 }))).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('EISDIR'),
    });
    expect(readFileSync(path, 'utf8')).toBe('port: 9000\n');
  });

  test('is rejected if the file would exceed the size that a start reads', async () => {
    const stored = opened('');
    const origins = Array.from({ length: 1000 }, (_, n) => `https://${'a'.repeat(60)}.${'b'.repeat(60)}-${n}.example`);
    expect(await refused(stored.change({ 'cors.origins': origins }))).toMatchObject({
      code: 'INVALID_REQUEST',
      field: 'settings',
    });
    expect(origins.join().length).toBeGreaterThan(limits.maxConfigFileBytes);
    expect(readFileSync(path, 'utf8')).toBe('');
  });
});

test('secrets are never shown, neither in stored values nor in problems; a changed secret only requires a restart', async () => {
  const secret = 'hunter2hunter2';
  const stored = opened(`key_passphrase: ${secret}\n`, {
    CANDOR_CONFIG: path,
    CANDOR_ADMIN_PASSWORD: secret,
  });
  expect(JSON.stringify(await stored.read())).not.toContain('hunter2');
  for (const [other, pending] of [
    ['', {}],
    ['port: 1\n', { port: 1 }],
  ] as const) {
    writeFileSync(path, `key_passphrase: ${secret}3\n${other}`);
    const read = await stored.read();
    expect([read.pending, read.restart_required]).toEqual([pending, true]);
  }
  expect(JSON.stringify(await stored.read())).not.toContain('hunter2');
  writeFileSync(path, 'key_passphrase: hunter2\n');
  expect((await stored.read()).problem).toMatch(/^key_passphrase: got a value that is not shown/);
});
