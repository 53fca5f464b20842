/** Public reads of the log while the thread that appends to it is busy. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { call } from './call.ts';

test('heads, proofs, tiles and keys are served while the thread of the ledger waits for a commit', async () => {
  const service = await startService();
  onTestFinished(async () => {
    await service.stop();
  });
  const token = await login(service);
  await login(service);
  const get = (path: string) => fetch(`${service.url}${path}`);
  while ((await get('/api/transparency/consistency?first=1&second=2')).status !== 200) await sleep(50);

  const holder = spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    new URL('hold-commit-child.ts', import.meta.url).pathname,
    `${service.dataDir}/ledger.mdb`,
  ]);
  onTestFinished(() => void holder.kill());
  await once(holder.stdout, 'data');
  let isRotated = false;
  const rotation = call(service, 'rotateKey', { token, json: { purpose: 'event-signing' } }).finally(() => {
    isRotated = true;
  });
  for (const path of [
    '/api/transparency/sth',
    '/api/transparency/inclusion?leaf_index=0&tree_size=2',
    '/api/transparency/consistency?first=1&second=2',
    '/tile/0/000.p/2',
    '/.well-known/jwks.json',
    '/api/transparency/keys',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  expect(isRotated).toBe(false);
  holder.stdin.end();
  expect((await rotation).status).toBeLessThan(300);
});
