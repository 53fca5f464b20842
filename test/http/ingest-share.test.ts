import { expect, test } from 'vitest';
import { Wire } from './serve.ts';
import { openService, password } from './service.ts';

test('incomplete bodies of one sensor leave room for the bodies of another sensor', async () => {
  const service = await openService({
    CANDOR_LIMITS_MAX_BODY_BYTES: '100000',
    CANDOR_LIMITS_MAX_INGEST_IN_FLIGHT_BYTES: '300000',
  });
  const signedIn = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  const admin = (signedIn.body as { access_token: string }).access_token;
  const token = async (name: string) => {
    const principal = await service.call('createPrincipal', 'POST /api/v1/principals', {
      token: admin,
      json: { name, kind: 'sensor', roles: ['sensor'] },
    });
    const { id } = (principal.body as { data: { id: string } }).data;
    const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
      token: admin,
      json: { name, principal_id: id, scopes: ['sensor'] },
    });
    return (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
  };
  const [one, other] = [await token('zeek-1'), await token('zeek-2')];
  const send = async (credentials: string, bytes: number) => {
    const wire = await Wire.open(service.server.port);
    const head = `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${credentials}\r\n`;
    wire.send(`${head}Content-Type: application/x-ndjson\r\nContent-Length: 90000\r\n\r\n${'\n'.repeat(bytes)}`);
    return wire;
  };
  const halves = [await send(one, 80_000), await send(one, 80_000)];
  const refused = await send(one, 80_000);
  expect(await refused.until(/RATE_LIMITED/)).toMatch(/^HTTP\/1.1 429 [\s\S]*Retry-After: 1/);
  const taken = await send(other, 90_000);
  expect(await taken.until(/"accepted"/)).toMatch(/^HTTP\/1.1 200 /);
  for (const wire of halves) wire.send('\n'.repeat(10_000));
  for (const wire of halves) expect(await wire.until(/"accepted"/)).toMatch(/^HTTP\/1.1 200 /);
  for (const wire of [...halves, refused, taken]) wire.end();
  expect(service.services.metrics.limitsReached()).toMatchObject([{ limit: 'maxIngestShareOfPrincipal', times: 1 }]);
  await service.close();
});
