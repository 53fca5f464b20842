import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Denied, EmptyLog, httpLog, NotFound, patient } from '../../src/client/log-source.ts';

let server: Server | undefined;
afterEach(() => void server?.close().closeAllConnections());

async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a log over HTTP', () => {
  test('distinguishes an empty log, missing paths, denied requests, redirects and an unavailable server', async () => {
    const answers: Record<string, [number, string]> = {
      '/empty': [503, '{"error":{"code":"LOG_EMPTY"}}'],
      '/busy': [429, ''],
      '/broken': [500, '<html>'],
      '/gone': [404, ''],
      '/token': [401, ''],
      '/role': [403, ''],
      '/moved': [301, ''],
      '/odd': [204, ''],
    };
    const url = await serve((request, response) => {
      const [status, body] = answers[request.url!]!;
      response.writeHead(status, { location: '/elsewhere' }).end(status === 204 ? undefined : body);
    });
    const log = httpLog(`${url}/`);
    expect(log.url).toBe(url);
    expect(await log.get('/empty')).toBeInstanceOf(EmptyLog);
    expect(await log.get('/busy')).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await log.get('/broken')).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await log.getBytes('/gone')).toBeInstanceOf(NotFound);
    expect(await log.getBytes('/token')).toBeInstanceOf(Denied);
    expect(await log.getBytes('/role')).toBeInstanceOf(Denied);
    expect(await log.get('/moved')).toMatchObject({ code: 'UNREACHABLE' });
    expect(await log.get('/odd')).toMatchObject({ code: 'HTTP_REFUSED' });
  });

  test('sends the token and returns bytes unchanged', async () => {
    const url = await serve((request, response) => {
      const known = request.headers.authorization === 'Bearer secret';
      response.end(known ? Buffer.of(0, 255, 0xe2, 10) : '');
    });
    expect(await httpLog(url, { token: 'secret' }).getBytes('/')).toEqual(Uint8Array.of(0, 255, 0xe2, 10));
    expect(await httpLog(url).getBytes('/')).toEqual(new Uint8Array());
  });

  test('sends no header for an empty token, which counts as unset', async () => {
    const url = await serve((request, response) => response.end(request.headers.authorization ?? 'none'));
    expect(await httpLog(url, { token: '' }).get('/')).toBe('none');
  });

  test('asks caches to revalidate only in requests that must bypass caches', async () => {
    const url = await serve((request, response) => response.end(request.headers['cache-control'] ?? 'none'));
    const log = httpLog(url);
    expect(await log.get('/')).toBe('none');
    expect(await log.pastCaches!().get('/')).toBe('no-cache');
    expect(new TextDecoder().decode((await log.pastCaches!().getBytes('/')) as Uint8Array)).toBe('no-cache');
  });

  test('limits the size and duration of responses, and stops on abort', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/silent') return;
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(2 ** 20)));
      };
      response.on('drain', more);
      more();
    });
    expect(await httpLog(url).getBytes('/endless')).toMatchObject({ code: 'HTTP_REFUSED' });
    expect(await httpLog(url, { timeoutMs: 50 }).get('/silent')).toMatchObject({ code: 'UNREACHABLE' });
    const stop = new AbortController();
    const log = patient(httpLog(url, { signal: stop.signal }), 600_000);
    const asked = log.get('/silent');
    stop.abort();
    expect(await asked).toMatchObject({ code: 'UNREACHABLE' });
    expect(await log.get('/silent')).toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe('a log with retries', () => {
  test('retries three times if the failure may be temporary, and does not retry otherwise', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(request.url!);
      const busy = request.url === '/busy' || seen.filter((path) => path === request.url).length < 3;
      if (request.url === '/empty') response.writeHead(503).end('{"error":{"code":"LOG_EMPTY"}}');
      else if (request.url === '/gone') response.writeHead(404).end();
      else if (busy) response.writeHead(503).end();
      else response.end('here');
    });
    const log = patient(httpLog(url), 1);
    expect(await log.get('/soon')).toBe('here');
    expect(await log.getBytes('/busy')).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await log.get('/empty')).toBeInstanceOf(EmptyLog);
    expect(await log.get('/gone')).toBeInstanceOf(NotFound);
    expect(seen).toEqual([...Array(3).fill('/soon'), ...Array(4).fill('/busy'), '/empty', '/gone']);
  });
});
