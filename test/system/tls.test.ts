/**
 * The service over TLS as in production: clients with certificates, a renewal on SIGHUP, the auditor's
 * command.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { adminPassword, startService } from '../../scripts/service.ts';
import { Authority, pemOf, temporaryFolder, withoutOpenssl } from '../http/tls-certificates.ts';
import { callTls, type TlsCall } from '../http/tls-client.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

const root = new URL('../..', import.meta.url).pathname;

/** Runs `candor audit`; returns the exit code and the output. */
function audit(url: string, env: Readonly<Record<string, string>>): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const args = [join(root, 'src/cli/main.ts'), 'audit', url];
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: out + err });
    });
  });
}

describe.skipIf(withoutOpenssl !== undefined)('over TLS', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  test('sensors authenticate by certificate, server certificates are renewed on SIGHUP, plain HTTP is explained in the log, and the log can be audited', async () => {
    const authority = Authority.root(folder.path, 'root');
    const [first, second] = [authority.server('first'), authority.server('second')];
    const live = { cert: join(folder.path, 'cert.pem'), key: join(folder.path, 'key.pem') };
    copyFileSync(first.cert, live.cert);
    copyFileSync(first.key, live.key);
    const sensor = pemOf(authority.issue('sensor', { extensions: ['subjectAltName=DNS:sensor-1'] }));
    const service = await startService({
      dataDir: join(folder.path, 'data'),
      env: {
        CANDOR_TLS_CERT: live.cert,
        CANDOR_TLS_KEY: live.key,
        CANDOR_TLS_CLIENT_CA: authority.pair.cert,
      },
    });
    try {
      const { port, protocol } = new URL(service.url);
      expect(protocol).toBe('https:');
      await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      await expect.poll(() => service.output.filter((line) => line.includes('https:// (not http://)')).length).toBe(1);
      const ca = readFileSync(authority.pair.cert);
      const call = async (path: string, options: Partial<TlsCall> = {}) => {
        const { status, body } = await callTls(Number(port), path, { ca, ...options });
        return { status, body: (body === '' ? undefined : JSON.parse(body)) as unknown };
      };
      const post = (body: object, headers: Record<string, string> = {}) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        send: JSON.stringify(body),
      });
      const session = await call('/auth/login', post({ username: 'admin', password: adminPassword }));
      const { access_token } = session.body as { access_token: string };
      const authorization = `Bearer ${access_token}`;

      expect((await call('/auth/me', sensor)).status).toBe(401);
      const principal = { name: 'sensor-1', kind: 'sensor', roles: ['sensor'] };
      expect((await call('/api/v1/principals', post(principal, { authorization }))).status).toBe(201);
      expect(await call('/auth/me', sensor)).toMatchObject({
        status: 200,
        body: { data: { attributes: principal } },
      });
      expect((await call('/api/v1/principals', sensor)).status).toBe(403);
      const logout = await call('/auth/logout', { ...sensor, method: 'POST' });
      expect(logout).toMatchObject({ status: 400, body: { error: { details: { field: 'authorization' } } } });

      copyFileSync(second.cert, live.cert);
      copyFileSync(second.key, live.key);
      process.kill(service.pid, 'SIGHUP');
      while (!service.output.some((line) => line.includes('new TLS certificates are in use')))
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect((await call('/auth/me', sensor)).status).toBe(200);

      const state = { XDG_STATE_HOME: join(folder.path, 'state') };
      expect((await audit(service.url, state)).said).toContain('unable to verify');
      const known = await audit(service.url, { ...state, NODE_EXTRA_CA_CERTS: authority.pair.cert });
      expect(known.said).toContain('size         2');
      expect(known.code).toBe(0);
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill().catch(() => undefined);
    }
  });
});
