import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { Opened } from '../../src/service/lifecycle.ts';

test('a part that never closes is abandoned, and the other parts are closed in reverse order', async () => {
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const opened = new Opened(log);
  const closed: string[] = [];
  opened.onClose('first', () => closed.push('first'));
  opened.onClose('hanging', () => new Promise(() => undefined), 10);
  opened.onClose('failing', () => Promise.reject(new Error('failed')));
  opened.onClose('last', () => closed.push('last'));
  expect(await opened.close(60_000)).toBe(false);
  expect(closed).toEqual(['last', 'first']);
  expect(logged).toEqual(['failing could not be closed', 'hanging could not be closed']);
  opened.onClose('only', () => closed.push('only'));
  expect(await opened.close(60_000)).toBe(true);
});

test('a process ends even if a system call never returns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-lifecycle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const script = `
    import { open } from 'node:fs/promises';
    const { endProcess } = await import(${JSON.stringify(new URL('../../src/service/lifecycle.ts', import.meta.url).href)});
    const hanging = process.argv[1] === '' ? undefined : open(process.argv[1]);
    await endProcess(true);`;
  const run = (path: string) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script, path], { timeout: 50_000 });
  expect(run(pipe)).toMatchObject({ status: null, signal: 'SIGKILL' });
  expect(run('')).toMatchObject({ status: 0, signal: null });
});
