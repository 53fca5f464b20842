/** Unusual and missing files that a running service is configured to read. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Service, startService } from '../../scripts/service.ts';
import { call, type Item, type Page } from '../system/call.ts';

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-strange-'));
  execFileSync('mkfifo', [join(dataDir, 'pipe')]);
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function signIn(service: Service): Promise<string> {
  const { body } = await call(service, 'login', { json: { username: 'admin', password: adminPassword } });
  return (body as { access_token: string }).access_token;
}

test('settings that name a pipe or a device are refused, and the service keeps running', async () => {
  const service = await startService({ dataDir });
  try {
    const token = await signIn(service);
    const pipe = join(dataDir, 'pipe');
    for (const settings of [
      { 'witness.policy': '/dev/zero' },
      { 'witness.policy': pipe },
      { 'tls.cert': pipe, 'tls.key': pipe },
      { 'tls.cert': '/dev/zero', 'tls.key': '/dev/zero' },
    ]) {
      const { status, body } = await call(service, 'updateConfig', { token, json: { settings } });
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: {
          details: {
            field: `settings.${Object.keys(settings)[0]}`,
            reason: expect.stringContaining('it is not a file'),
          },
        },
      });
    }
    expect((await call(service, 'getHealth', {})).status).toBe(200);
  } finally {
    expect(await service.stop()).toBe(0);
  }
});

test('the loss of siem.mdb is reported at the start, and the loss of the access policy is in the log', async () => {
  for (const name of ['policy.json', 'siem.mdb']) rmSync(join(dataDir, name));
  const service = await startService({ dataDir });
  try {
    expect(service.output).toContainEqual(
      expect.stringMatching(/^ {2}warning +siem\.mdb was missing, though the log has entries/),
    );
    const token = await signIn(service);
    const entries = async () => {
      const { body } = await call(service, 'listEntries', { token, query: 'kind=policy.reloaded' });
      return (body as Page).data.map(({ attributes }: Item) => attributes.entry);
    };
    while ((await entries()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await entries()).toMatchObject([{ actor: 'system', data: { version: 1, removed: [] } }]);
  } finally {
    expect(await service.stop()).toBe(0);
  }
});
