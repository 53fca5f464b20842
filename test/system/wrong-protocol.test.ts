/** The log and errors explain why clients cannot connect, or why the service cannot listen. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { candor } from '../cli/candor.ts';

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

const firstFree = () => Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
const isRoot = process.getuid?.() === 0;

test.skipIf(process.platform !== 'linux' || !isRoot || firstFree() <= 81)(
  'the error gives advice if the user lacks the right to listen on a port below 1024',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'candor-wrong-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const wrapper = ['setpriv', '--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service'];
    await expect(startService({ dataDir, wrapper, env: { CANDOR_PORT: '81' } })).rejects.toThrow(
      'cannot listen on 127.0.0.1 port 81: this user cannot listen on this port (EACCES); choose a port from 1024 on',
    );
  },
);
