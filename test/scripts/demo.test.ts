import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-demo-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function demo(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | string; output: string }> {
  const flags = ['--disable-warning=ExperimentalWarning', script, ...args];
  const options = { env: { ...process.env, ...env, TMPDIR: folder }, timeout: 600_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, flags, options, (error, stdout) => {
      resolve({ code: error === null ? 0 : (error.code ?? String(error.signal)), output: stdout });
    });
  });
}

test('the demo plays traffic, raises alerts, proves entries and removes all of its files', {
  timeout: 660_000,
}, async () => {
  const { code, output } = await demo(['--once', '--rate', '50000']);
  expect(code, output).toBe(0);
  expect(output).toMatch(/listens at http:\/\/127\.0\.0\.1:\d+/);
  for (const step of ['tree head signed', 'entry signed', 'entry included', 'log only extended']) {
    expect(output).toContain(`✓ ${step}`);
  }
  expect(output).toMatch(/^Limits reached since the start: none$/m);
  expect(readdirSync(folder)).toEqual([]);
});

test.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'a closed output'] as const)(
  'the demo removes all of its files when ended by %s',
  async (how) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    let url: string | undefined;
    while (url === undefined) {
      output += String(await once(child.stdout, 'data'));
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    }
    if (how.startsWith('SIG')) child.kill(how as NodeJS.Signals);
    else child.stdout.destroy();
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  },
);

test('a demo that cannot start gives the reason and exits with 1', async () => {
  const { code, output } = await demo(['--once'], { CANDOR_CONFIG: join(folder, 'none.yaml') });
  expect(code).toBe(1);
  expect(output).toMatch(/^demo: .*none\.yaml/ms);
  expect((await demo(['--rate', 'fast'])).code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});
