/** Each exit code means the same for every command. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ErrorCode, errorCodes } from '../../src/errors.ts';
import { type ExitCode, exitCodes, exitCodesHelp } from '../../src/service/exit-codes.ts';
import { candor, candorIn, command } from './candor.ts';

let folder: string;
let server: Server;
let code: ErrorCode;
let authorization: (string | undefined)[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candor-codes-'));
  authorization = [];
  server = createServer((request, response) => {
    authorization.push(request.headers.authorization);
    const error = { code, message: 'no', request_id: 'r' };
    response
      .writeHead(errorCodes[code].status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error, timestamp: new Date(0).toISOString() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve).closeAllConnections());
  rmSync(folder, { recursive: true, force: true });
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const commands = (): string[][] => [
  ['audit', url(), '--state', join(folder, 'pin')],
  ['backup', url()],
  ['export', url()],
  ['sth', url()],
  ['verify', '--url', url(), '--leaf-index', '0'],
];

const cases: readonly (readonly [ErrorCode, ExitCode])[] = [
  ['UNAUTHENTICATED', exitCodes.refused],
  ['FORBIDDEN', exitCodes.refused],
  ['CONFLICT', exitCodes.refused],
  ['INTERNAL', exitCodes.unavailable],
  ['UNAVAILABLE', exitCodes.unavailable],
];

describe('every command returns the same exit code for the same response of a service', () => {
  test.each(cases)('%s: %i', async (answered, wanted) => {
    code = answered;
    const ended = await Promise.all(commands().map((args) => command(...args)));
    expect(ended.map((one, i) => [commands()[i]![0], one.code])).toEqual(commands().map(([name]) => [name, wanted]));
  });

  test('the process of each command exits with this code', async () => {
    code = 'CONFLICT';
    const ended = await Promise.all(commands().map((args) => candor(...args)));
    expect(ended.map((one) => one.code)).toEqual(commands().map(() => exitCodes.refused));
  });
});

test('an empty token counts as unset, from the environment or from the command line', async () => {
  code = 'FORBIDDEN';
  const withTokens = commands().filter(([name]) => name !== 'sth');
  vi.stubEnv('CANDOR_TOKEN', '');
  await Promise.all(withTokens.map((args) => command(...args)));
  vi.stubEnv('CANDOR_TOKEN', 'secret');
  await command('backup', url(), '--token', '');
  expect(authorization).not.toHaveLength(0);
  expect(new Set(authorization)).toEqual(new Set([undefined]));
  await candorIn({ CANDOR_TOKEN: 'secret' }, 'backup', url());
  expect(authorization.at(-1)).toBe('Bearer secret');
});

test('the table of --help has every code', () => {
  const shown = [...exitCodesHelp.matchAll(/^ {2}(\d) /gm)].map(([, digit]) => Number(digit));
  expect(shown).toEqual(Object.values(exitCodes));
});
