import { expect, onTestFinished, test } from 'vitest';
import { openService, password } from './service.ts';

test('a clock jump is reported in status, health and metrics until an administrator confirms the clock', async () => {
  let aheadMs = 0;
  const service = await openService({}, {}, undefined, {
    clock: () => BigInt(Date.now() + aheadMs) * 1_000_000n,
    steady: { runningMs: () => performance.now(), bootMs: () => performance.now() },
  });
  onTestFinished(() => service.close());
  const { body } = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  const token = (body as { access_token: string }).access_token;
  const status = async () =>
    (
      (await service.call('getStatus', 'GET /api/v1/status', { token })).body as {
        data: { attributes: object };
      }
    ).data.attributes;
  const rotate = () =>
    service.call('rotateKey', 'POST /api/v1/keys/rotate', { token, json: { purpose: 'event-signing' } });
  expect((await rotate()).status).toBe(200);

  aheadMs = 2 * 3_600_000 + 60_000;
  const rotated = await rotate();
  expect(rotated).toMatchObject({ status: 200 });
  const { id } = (rotated.body as { data: { id: string } }).data;
  const revoked = service.call('revokeKey', `POST /api/v1/keys/${id}/revoke`, {
    token,
    json: { reason: 'stolen' },
  });
  expect((await revoked).status).toBe(200);
  const finding = { code: 'clock_jumped', message: expect.stringContaining('2 hours') };
  expect(await status()).toMatchObject({
    verdict: { well: false },
    ledger: { state: 'degraded', fault: 'clock', findings: [finding] },
  });
  expect((await service.call('getHealth', 'GET /health')).body).toMatchObject({
    ...{ status: 'degraded', ledger: 'clock', findings: [finding] },
    advice: expect.stringContaining('/api/v1/clock/confirm'),
  });
  const { body: metrics } = await service.call('getMetrics', 'GET /metrics', { token });
  expect(metrics).toMatch(/^candor_ledger_finding\{code="clock_jumped"\} 1$/m);

  expect((await service.call('confirmClock', 'POST /api/v1/clock/confirm')).status).toBe(401);
  const confirmed = await service.call('confirmClock', 'POST /api/v1/clock/confirm', { token });
  expect(confirmed).toMatchObject({
    status: 200,
    body: { data: { attributes: { verdict: { well: true }, ledger: { state: 'ok', findings: [] } } } },
  });
  expect((await rotate()).status).toBe(200);
});
