/** The log and errors explain why clients cannot connect, or why the service cannot listen. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { candor } from '../cli/candor.ts';

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'candor-wrong-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('HTTPS to an HTTP port is explained in the log once, and by commands that try HTTPS', async () => {
  const service = await startService();
  const { port } = new URL(service.url);
  for (let n = 0; n < 3; n++) await fetch(`https://127.0.0.1:${port}/health`).catch(() => undefined);
  const said = () => service.output.filter((line) => line.includes('http:// (not https://)'));
  await expect.poll(() => said().length, { timeout: 60_000 }).toBe(1);
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  for (const command of ['audit', 'backup']) {
    const { code, stdout, stderr } = await candor(command, `https://127.0.0.1:${port}`, '--token', 'x');
    const printed = stdout + stderr;
    expect([code, printed]).toEqual([
      exitCodes.unavailable,
      expect.stringContaining('the port does not speak TLS; use http:// instead of https://'),
    ]);
    expect(printed).not.toMatch(/SSL routines|wrong version/);
  }
  expect(await service.stop()).toBe(0);
  expect(said()).toHaveLength(1);
});

test('HTTP to an HTTPS port is explained in the log', async () => {
  const folder = folderOf();
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
  ]);
  expect(made.status).toBe(0);
  const service = await startService({ env: { CANDOR_TLS_CERT: cert, CANDOR_TLS_KEY: key } });
  const { port } = new URL(service.url);
  await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
  await expect
    .poll(() => service.output.filter((line) => line.includes('https:// (not http://)')).length, {
      timeout: 60_000,
    })
    .toBe(1);
  expect(await service.stop()).toBe(0);
});

const firstFree = () => Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
const isRoot = process.getuid?.() === 0;

test.skipIf(process.platform !== 'linux' || !isRoot || firstFree() <= 81)(
  'the error gives advice if the user lacks the right to listen on a port below 1024',
  async () => {
    const dataDir = folderOf();
    const wrapper = ['setpriv', '--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service'];
    await expect(startService({ dataDir, wrapper, env: { CANDOR_PORT: '81' } })).rejects.toThrow(
      'cannot listen on 127.0.0.1 port 81: this user cannot listen on this port (EACCES); choose a port from 1024 on',
    );
  },
);
