/**
 * The tarball, installed in an empty folder as by a user: the command runs on the bundled runtime. Needs the
 * configured registry; CANDOR_SKIP_PACKAGE_TEST=1 skips the test.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, tokenFor } from '../../scripts/service.ts';
import { fetchHead, proveEntry } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { writeBundle } from '../../src/client/verify.ts';
import { productVersion } from '../../src/service/version.ts';
import { ServedLog } from '../client/served-log.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const skipped = process.env.CANDOR_SKIP_PACKAGE_TEST === '1';

describe.skipIf(skipped)('the installed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-package-'));
  const candor = join(folder, 'node_modules', '.bin', 'candor');
  // Leaves out the variables that npm sets for scripts, the variables of other tests, and the project's
  // runtime in PATH.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_/i.test(name) && name !== 'NODE_OPTIONS' && !name.startsWith('CANDOR_THREADS_'),
    ),
  );
  env.PATH = (env.PATH ?? '')
    .split(':')
    .filter((part) => !part.includes('node_modules'))
    .join(':');
  const major = skipped ? '' : execFileSync('node', ['--version'], { env, encoding: 'utf8' }).split('.')[0];
  const onNode20 = `Node 20, the oldest supported version (the host has ${major})`;

  beforeAll(async () => {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: root });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', ['install', ...quiet, join(folder, String(tarball))], { cwd: folder, env });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('prints its version', async () => {
    const { stdout } = await run(candor, ['--version'], { cwd: folder, env });
    expect(stdout.trim()).toBe(productVersion());
  });

  test('verifies a bundle offline', async () => {
    const log = await ServedLog.start();
    await log.append(3);
    const source = httpLog(log.url);
    const signed = await fetchHead(source);
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const proven = await proveEntry(source, { leafIndex: 1 }, signed);
    if (proven instanceof AuditFault) throw new Error(proven.code);
    await log.close();
    const { leafIndex, canonical, path } = proven;
    const file = join(folder, 'bundle.json');
    writeFileSync(file, writeBundle({ leaf: { leafIndex, canonical }, path, ...signed }));
    const { stdout } = await run(candor, ['verify', file, '--json'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', leaf_index: 1, tree_size: 3 });
  });

  test('has the verifier as a library with type declarations', async () => {
    const use =
      "import { AuditFault, parseBundle } from 'candor/verifier'; console.log(parseBundle('') instanceof AuditFault);";
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', use], { cwd: folder, env });
    expect(stdout.trim()).toBe('true');
    expect(existsSync(join(folder, 'node_modules/candor/dist/src/client/verifier.d.ts'))).toBe(true);
  });

  test.skipIf(major !== 'v20')(`verifies a log and provides a client on ${onNode20}`, async () => {
    const log = await ServedLog.start();
    await log.append(3);
    const use = `import { AuditFault, fetchHead, httpLog, proveEntry } from 'candor/verifier';
      import { createClient } from 'candor/client';
      import { openLive } from 'candor/live';
      const source = httpLog(process.argv[1]);
      const head = await fetchHead(source);
      if (head instanceof AuditFault) throw head;
      const proven = await proveEntry(source, { leafIndex: 1 }, head);
      console.log(proven instanceof AuditFault ? proven.code : proven.leafIndex, typeof createClient, typeof openLive);`;
    const options = { cwd: folder, env };
    const { stdout } = await run('node', ['--input-type=module', '-e', use, '--', log.url], options);
    await log.close();
    expect(stdout.trim()).toBe('1 function function');
  });

  test('has types for the verifier, the client and the live subscription', async () => {
    const file = join(folder, 'use.mts');
    writeFileSync(
      file,
      `import { createClient } from 'candor/client';
import { openLive } from 'candor/live';
import { type Bundle, AuditFault, parseBundle } from 'candor/verifier';
export const bundle: Bundle | AuditFault = parseBundle('');
const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
export const score: number | undefined = (await client.call('getAlert', { params: { alert_id: '' } })).data.attributes.risk_score;
// @ts-expect-error
await client.call('noSuchOperation', {});
const live = openLive({ baseUrl: '', token: async () => ({ token: '', expiresAt: 0 }), onState: () => {} });
live.subscribe('alerts', {}, { onEvent: ({ data }) => console.log(data.attributes.title) });
openLive({ baseUrl: '', token: async () => ({ token: '', expiresAt: 0 }), onState: () => {}, WebSocket });
`,
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom,esnext.disposable',
    ];
    const { stdout } = await run(process.execPath, [tsc, ...options, file], { cwd: folder, env }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  test('runs the service with its threads, to which its client subscribes with a given WebSocket class, and passes on the signal and the exit code', async () => {
    const settings = {
      CANDOR_DATA_DIR: join(folder, 'data'),
      CANDOR_PORT: '0',
      CANDOR_ADMIN_PASSWORD: adminPassword,
    };
    const service = spawn(candor, ['start'], {
      cwd: folder,
      env: { ...env, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => service.once('exit', resolve));
    const output: string[] = [];
    createInterface({ input: service.stderr }).on('line', (line) => output.push(line));
    const listening = new Promise<string>((resolve) => {
      createInterface({ input: service.stdout }).on('line', (line) => {
        output.push(line);
        const record = line.startsWith('{') ? (JSON.parse(line) as { msg?: string; url?: string }) : {};
        if (record.msg?.includes('listening') && record.url !== undefined) resolve(record.url);
      });
    });
    const url = await Promise.race([listening, ended.then((code) => `ended with ${code}: ${output.join('\n')}`)]);
    expect(url).toMatch(/^http:/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await expectConsole(url);
    await expectSubscription(url);
    service.kill('SIGTERM');
    expect(await ended, output.join('\n')).toBe(0);
  });

  /** Subscribes with the installed client: without a WebSocket class of Node, with and without a given class. */
  async function expectSubscription(url: string): Promise<void> {
    const use = `import { openLive } from 'candor/live';
      import ws from 'ws';
      const [baseUrl, token] = process.argv.slice(1);
      delete globalThis.WebSocket;
      const options = { baseUrl, token: async () => ({ token, expiresAt: Infinity }), onState: () => {} };
      try { openLive(options); } catch (error) { console.log(error.message); }
      const live = openLive({ ...options, WebSocket: ws });
      live.subscribe('alerts', {}, {
        onEvent() {},
        onSubscribed() { console.log('subscribed'); live.close(); },
        onError(error) { console.log(error); live.close(); },
      });`;
    symlinkSync(join(root, 'node_modules/ws'), join(folder, 'node_modules/ws'));
    const args = ['--input-type=module', '-e', use, '--', url, await tokenFor({ url }, 'viewer')];
    const { stdout } = await run('node', args, { cwd: folder, env });
    const [refused, ...rest] = stdout.trim().split('\n');
    expect(refused).toMatch(/Node 22.*option WebSocket/);
    expect(rest).toEqual(['subscribed']);
  }
});

/** Checks the first page and its files, in the form compressed by the build. */
async function expectConsole(url: string): Promise<void> {
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const loaded = Array.from((await page.text()).matchAll(/"(\/console\/[^"]+)"/g), ([, path]) => path!);
  expect(loaded.some((path) => path.endsWith('.js'))).toBe(true);
  for (const path of loaded) {
    const file = await fetch(url + path, { headers: { 'accept-encoding': 'br' } });
    expect([path, file.status]).toEqual([path, 200]);
    if (path.endsWith('.js')) expect(file.headers.get('content-encoding')).toBe('br');
  }
}
