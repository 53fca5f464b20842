import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { host, httpUrl, path, program, serviceUrl } from '../../src/config/readers.ts';
import { settingNames, settingOf } from '../../src/config/settings.ts';
import { openStoredSettings } from '../../src/config/stored-settings.ts';
import { VolumeQueue } from '../../src/files/volume-queue.ts';
import { requirements } from '../../src/service/requirements.ts';
import { loadPolicy } from '../../src/witness/policy-file.ts';
import { hangingVolume } from '../files/hanging-volume.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-requirements-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const written = (text: string): string => {
  const path = join(folder, 'hidden');
  writeFileSync(path, text);
  return path;
};

test.each([
  ['root:*:20228:0:99999:7:::', 'line 1: unknown line'],
  ['\n-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIB', 'line 2: unknown line'],
  ['log hunter2', 'line 1: bad key'],
  ['quorum hunter2', 'line 1: unknown name'],
  ['group hunter2 all hunter3', 'line 1: unknown name'],
  ['# hunter2', 'no quorum'],
])('errors about a witness policy that is a file of another kind do not quote the file: %j', async (text, place) => {
  const path = written(text);
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  const refused = await stored.change({ 'witness.policy': path }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'INVALID_REQUEST',
    details: {
      field: 'settings.witness.policy',
      reason: `witness policy ${path} is not valid: ${place}`,
    },
  });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ 'witness.policy': path }));
  expect((await stored.read()).problem).toBe(`witness.policy: witness policy ${path} is not valid: ${place}`);
  rmSync(join(folder, 'config.json'));
});

test('at a start, the error about a witness policy quotes the unknown word, because only the operator reads the output', async () => {
  await expect(loadPolicy(written('root:*:20228'))).rejects.toThrow(
    /line 1: "root:\*:20228" is not a keyword; use one of/,
  );
});

/** Schemas of the settings that name a file, a folder, a program, a host or a URL. */
const outside = [path(), program, serviceUrl, httpUrl, host].map(({ schema }) => JSON.stringify(schema));
const outsideSettings = settingNames.filter((name) => {
  const { schema } = settingOf(name);
  return [schema, schema.items].some((one) => outside.includes(JSON.stringify(one)));
});
const tls = ['tls.cert', 'tls.key', 'tls.client_ca'];

test('this file lists every setting that names a path, a host or a URL', () => {
  expect(outsideSettings.toSorted()).toEqual(
    [
      ...['backup.dir', 'data_dir', 'detection.rules_dir', 'discovery.nmap', 'host', 'ledger.anchor_path'],
      ...['ledger.ssh_agent_socket', 'policy.file', 'timestamps.authorities', 'timestamps.ca_file', ...tls],
      ...['triage.endpoint', 'witness.policy'],
    ].toSorted(),
  );
});

test.each(outsideSettings)('%s cannot be changed to a value that the service cannot use', async (name) => {
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  const unusable =
    settingOf(name).schema.type === 'array'
      ? ['http://192.0.2.1']
      : ({ host: '192.0.2.1', 'triage.endpoint': 'https://192.0.2.1' }[name as string] ?? '/dev/null/x');
  const values = Object.fromEntries((tls.includes(name) ? tls : [name]).map((one) => [one, unusable]));
  const refused = await stored.change(values).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'INVALID_REQUEST',
    details: { field: expect.stringMatching(/^settings\./) },
  });
  expect(readdirSync(folder)).not.toContain('config.json');
});

test('a witness policy on a hanging volume is refused, and other settings can be changed', async () => {
  const { volume: paths, answer } = await hangingVolume();
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements, {
    file: new VolumeQueue('x'),
    paths,
  });
  const change = () => stored.change({ 'witness.policy': join(folder, 'no-policy') });
  await expect(change()).rejects.toMatchObject({
    details: { reason: 'the volume has not answered for 0.2 s; repair its volume' },
  });
  expect((await stored.change({ 'log.level': 'warn' })).pending).toEqual({ 'log.level': 'warn' });
  rmSync(join(folder, 'config.json'));
  answer();
  const reason = expect.stringMatching(/it cannot be read \(ENOENT\)$/);
  await vi.waitFor(() => expect(change()).rejects.toMatchObject({ details: { reason } }), 60_000);
});

test.each([
  ['/proc/x', /lies in proc, which cannot store files/],
  ['/proc/1/x/y', /lies in proc, which cannot store files/],
  ['/sys/x', /lies in sysfs, which cannot store files/],
  ['/dev/x', /lies in devices, which cannot store files/],
  ['{}/file/x', /file\/x cannot be used \(ENOTDIR\)/],
  ['{}/link/x', /link is a broken link/],
  ['{}/pipe', /pipe is not a folder/],
  ['{}/keys', /expected another path: keys in the data folder is for other data/],
  ['{}/rules/backups', /expected another path: rules in the data folder/],
])('a backup folder at %s is refused', async (path, reason) => {
  const env = { CANDOR_DATA_DIR: folder };
  for (const name of ['file', 'link', 'pipe']) rmSync(join(folder, name), { force: true });
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  const dir = path.replace('{}', folder);
  await expect(stored.change({ 'backup.dir': dir })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: { field: 'settings.backup.dir', reason: expect.stringMatching(reason) },
  });
});

test('a backup folder that does not exist yet is accepted, in the data folder and elsewhere', async () => {
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  for (const dir of [join(folder, 'backups'), join(folder, 'more', 'backups')])
    expect((await stored.change({ 'backup.dir': dir })).pending).toEqual({ 'backup.dir': dir });
  rmSync(join(folder, 'config.json'));
});

test.each(['ledger.anchor_path', 'policy.file', 'detection.rules_dir'])(
  'the setting %s cannot be the path of a database',
  (name) => {
    const variable = `CANDOR_${name.replace('.', '_').toUpperCase()}`;
    const env = { CANDOR_DATA_DIR: folder, [variable]: join(folder, 'siem.mdb') };
    expect(() => loadSettings(env)).toThrow(`${name}: got "${join(folder, 'siem.mdb')}"`);
  },
);
