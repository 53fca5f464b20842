import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { startParts } from '../backup/parts.ts';
import { entries } from '../ledger/fixture-entry.ts';

const launcher = fileURLToPath(new URL('../../scripts/candor.js', import.meta.url));

const alert = (severity: number, signature_id: number) =>
  JSON.stringify({
    timestamp: '2026-11-20T10:00:00.000000+0000',
    event_type: 'alert',
    flow_id: signature_id,
    src_ip: '10.0.0.1',
    src_port: 1,
    dest_ip: '10.0.0.2',
    dest_port: 2,
    proto: 'TCP',
    alert: { gid: 1, signature_id, rev: 1, signature: 'Something', severity },
  });

describe('a service with a degraded log', () => {
  let dataDir: string;
  let service: Service;
  let admin: string;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'candor-degraded-'));
    const before = await startParts(dataDir);
    await before.ledger.append(entries(0, 2));
    await before.close();
    writeFileSync(join(dataDir, 'anchor.json'), '');
    service = await startService({ dataDir });
    admin = await login(service);
  });
  afterAll(async () => {
    await service.kill().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function call(method: string, path: string, body: string, type = 'application/json') {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': type };
    const answer = await fetch(service.url + path, { method, headers, ...(body === '' ? {} : { body }) });
    const json = (await answer.json()) as Record<string, never>;
    return { status: answer.status, json, retryAfter: answer.headers.get('retry-after') };
  }

  test('ingests, serves readable data, and reports the fault', async () => {
    const sent = await call('POST', '/api/v1/ingest', alert(1, 1), 'application/x-ndjson');
    expect(sent).toMatchObject({ status: 200, json: { data: { accepted: 1 } } });
    expect((await call('GET', '/api/transparency/sth', '')).status).toBe(200);
    expect(await call('GET', '/health', '')).toMatchObject({
      status: 200,
      json: { status: 'degraded', ledger: 'corrupt' },
    });
    expect(service.output.some((line) => line.includes('DEGRADED: corrupt'))).toBe(true);
  });

  test('rejects changes by users that must be logged', async () => {
    const unavailable = {
      status: 503,
      json: { error: { code: 'UNAVAILABLE', details: { reason: 'log_corrupt' } } },
      retryAfter: expect.stringMatching(/^\d+$/),
    };
    const token = JSON.stringify({ name: 'x', scopes: ['viewer'] });
    expect(await call('POST', '/api/v1/tokens', token)).toMatchObject(unavailable);

    await call('POST', '/api/v1/ingest', alert(3, 2), 'application/x-ndjson');
    const { json } = await call('GET', '/api/v1/alerts?rule_id=1:2', '');
    const [{ id }] = (json as unknown as { data: [{ id: string }] }).data;
    const put = (change: object) => call('PUT', `/api/v1/alerts/${id}`, JSON.stringify(change));
    const ai_override = { verdict: 'benign', reason: 'known' };
    expect(await put({ ai_override })).toMatchObject(unavailable);
    expect(await put({ severity: 'high' })).toMatchObject(unavailable);
    expect((await put({ status: 'in_progress', severity: 'medium', note: 'looked at' })).status).toBe(200);
  });

  test('does not run with --strict', async () => {
    await service.stop();
    const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const env = { ...process.env, CANDOR_DATA_DIR: dataDir, CANDOR_PORT: '0' };
      const args = [launcher, 'start', '--strict'];
      execFile(process.execPath, args, { env, timeout: 30_000 }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
    expect(ended.code).toBe(exitCodes.degraded);
    expect(ended.stdout).toContain('DEGRADED: corrupt');
    expect(ended.stderr).toContain('is unreadable');
  });
});

test.for(['SIGTERM', 'SIGINT'] as const)(
  'a %s to the whole process group, launcher and service, causes one orderly shutdown',
  async (signal) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'candor-group-'));
    const child = spawn(process.execPath, [launcher, 'start'], {
      env: { ...process.env, CANDOR_DATA_DIR: dataDir, CANDOR_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    while (!output.includes('"listening"')) await once(child.stdout, 'data');
    process.kill(-(child.pid ?? 0), signal);
    const [code] = await once(child, 'close');
    expect(output).toContain('"stopped"');
    expect(code).toBe(0);
    rmSync(dataDir, { recursive: true, force: true });
  },
);
