import { randomInt, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scanner, scannerMethods } from '../../src/discovery/scanner.ts';
import { limits } from '../../src/limits.ts';
import { supervise } from '../../src/rpc/supervise.ts';
import { workerUrl } from '../../src/rpc/worker-url.ts';
import { Authority, temporaryFolder, withoutOpenssl } from '../http/tls-certificates.ts';
import { follow, job, scan, scanner } from './scanning.ts';
import { closedPort, drip, flood, greeter, listen, plain, secureGreeter, secureWeb, tarpit, web } from './servers.ts';

/** Returns a random loopback address without other listeners, for tests with fixed ports. */
const address = () => `127.77.${1 + randomInt(250)}.${1 + randomInt(250)}`;

/** Short waiting times, long enough for silent servers. */
const brief = { greetingMs: 150, lateGreetingMs: 150, answerMs: 300, quietMs: 50, totalMs: 2000 };
const byPort = (a: number, b: number) => a - b;

describe('real servers on loopback', () => {
  test('are found and identified', async () => {
    const ssh = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const http = await listen(web('nginx/1.24.0'));
    const mail = await listen(greeter('220 mx.example.org ESMTP Postfix\r\n'));
    const silent = await listen(tarpit());
    const flooding = await listen(flood());
    const dripping = await listen(drip(20));
    const elsewhere = await listen(greeter('* OK Dovecot ready.\r\n'), '127.0.0.2');
    const closed = await closedPort();
    const open = [ssh, http, mail, silent, flooding, dripping].map(({ port }) => port);
    const { hosts, counts, end } = await scan(job(['127.0.0.1', '127.0.0.2'], [...open, elsewhere.port, closed]), {
      bannerTimes: brief,
    });
    expect(end).toEqual({ outcome: 'completed' });
    expect(counts).toEqual({
      hosts_done: 2,
      probes_done: 16,
      hosts_up: 2,
      services_found: 7,
      services_skipped: 0,
      banners_skipped: 0,
    });
    const [first, second] = hosts.toSorted((a, b) => (a.ip < b.ip ? -1 : 1));
    expect(first?.ip).toBe('127.0.0.1');
    const tcp = (port: number, offered: object = {}) => ({ port, transport: 'tcp', ...offered });
    expect(first?.services).toEqual(
      [
        tcp(ssh.port, { name: 'ssh', product: 'OpenSSH', version: '9.6' }),
        tcp(http.port, { name: 'http', product: 'nginx', version: '1.24.0' }),
        tcp(mail.port, { name: 'smtp', product: 'Postfix' }),
        tcp(silent.port),
        tcp(flooding.port),
        tcp(dripping.port),
      ].toSorted((a, b) => a.port - b.port),
    );
    expect([...first!.closed].sort(byPort)).toEqual([elsewhere.port, closed].sort(byPort));
    expect(second).toMatchObject({
      ip: '127.0.0.2',
      services: [tcp(elsewhere.port, { name: 'imap', product: 'Dovecot' })],
    });
  });

  describe.skipIf(withoutOpenssl !== undefined)('over TLS', () => {
    const folder = temporaryFolder();
    let authority: Authority;
    beforeAll(() => {
      authority = Authority.root(folder.path, 'Test authority');
    });
    afterAll(() => folder.remove());

    test('a web server on an unusual port is recognised, with the names of its certificate', async () => {
      const pair = authority.issue('www.example.org', {
        extensions: ['subjectAltName=DNS:www.example.org,DNS:*.example.org,DNS:Example.ORG,IP:127.0.0.1'],
      });
      const https = await listen(secureWeb(pair, 'Apache/2.4.57 (Debian)'));
      const { hosts } = await scan(job(['127.0.0.1'], [https.port]), { bannerTimes: brief });
      const [service] = hosts[0]!.services;
      expect(service).toEqual({
        ...{ port: https.port, transport: 'tcp', name: 'https', product: 'Apache', version: '2.4.57' },
        certificate: {
          subject: 'www.example.org',
          names: ['www.example.org', 'example.org'],
          issuer: 'Test authority',
          not_before: expect.stringMatching(/^\d{4}-.*Z$/),
          not_after: expect.stringMatching(/^\d{4}-.*Z$/),
          sha256: new X509Certificate(readFileSync(pair.cert)).fingerprint256.replaceAll(':', '').toLowerCase(),
        },
      });
      // The first connection is in plain text, the second uses TLS.
      expect(https.accepted).toBe(2);
    });

    test('a server with a greeting is recognised', async () => {
      const imap = await listen(secureGreeter(authority.server('imap'), '* OK Dovecot ready.\r\n'));
      const { hosts } = await scan(job(['127.0.0.1'], [imap.port]), { bannerTimes: brief });
      expect(hosts[0]?.services).toMatchObject([{ port: imap.port, name: 'imaps', product: 'Dovecot' }]);
    });

    test('a usual TLS port needs one connection; a server without TLS on such a port needs a second connection', async () => {
      const [one, other] = [address(), address()];
      const https = await listen(secureWeb(authority.server('usual'), 'nginx/1.24.0'), one, 8443);
      const http = await listen(web('nginx/1.24.0'), other, 8443);
      const { hosts } = await scan(job([one, other], [8443]), { bannerTimes: brief });
      const named = Object.fromEntries(hosts.map(({ ip, services }) => [ip, services[0]?.name]));
      expect(named).toEqual({ [one]: 'https', [other]: 'http' });
      expect([https.accepted, http.accepted]).toEqual([1, 2]);
    });

    test('a server that closes every connection has no name; a silent TLS server is recognised as TLS', async () => {
      const hangsUp = await listen(plain((socket) => void socket.end()));
      const silentTls = await listen(secureGreeter(authority.server('silent'), ''));
      const { hosts } = await scan(job(['127.0.0.1'], [hangsUp.port, silentTls.port]), {
        bannerTimes: brief,
      });
      expect(hosts[0]?.services.find(({ port }) => port === hangsUp.port)).toEqual({
        port: hangsUp.port,
        transport: 'tcp',
      });
      expect(hosts[0]?.services.find(({ port }) => port === silentTls.port)?.name).toBe('tls');
    });
  });

  test('are found over IPv6', async () => {
    const ssh = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'), '::1').catch(() => undefined);
    if (ssh === undefined) return;
    const { hosts } = await scan(job(['::1'], [ssh.port]), { bannerTimes: brief });
    expect(hosts).toMatchObject([{ ip: '::1', services: [{ port: ssh.port, name: 'ssh' }] }]);
  });
});

describe('a malicious server', () => {
  const clean = (text: string | undefined) => text === undefined || !/[\p{Cc}\p{Cf}]/u.test(text);

  test.each([
    ['escape sequences', Buffer.from('220 \x1b[2J\x1b]0;owned\x07 ESMTP Exim 4.96\r\n')],
    ['zeros', Buffer.from('SSH-2.0-OpenSSH\0_9.6\0\r\n')],
    [
      'bytes that are not UTF-8',
      Buffer.from([...Buffer.from('HTTP/1.1 200 OK\r\nServer: '), 0xff, 0xfe, 0xc0, 0x80, 0x0d, 0x0a]),
    ],
    ['ten megabytes', Buffer.concat([Buffer.from('SSH-2.0-'), Buffer.alloc(10 * 2 ** 20, 'x')])],
    ['one byte', Buffer.from('x')],
  ])('does no harm by sending %s: the scan completes with short printable texts', async (_name, greeting) => {
    const server = await listen(greeter(greeting));
    const { hosts, end } = await scan(job(['127.0.0.1'], [server.port]), { bannerTimes: brief });
    expect(end).toEqual({ outcome: 'completed' });
    const [service] = hosts[0]!.services;
    expect([service?.name, service?.product, service?.version].every(clean)).toBe(true);
    expect(JSON.stringify(service).length).toBeLessThan(400);
  });

  test('that sends data endlessly is read only up to a limit', async () => {
    let written = 0;
    const server = plain((socket) => {
      const pour = (): void => {
        while (socket.writable && socket.write(Buffer.alloc(4096, 'A')));
        written = Math.max(written, socket.bytesWritten);
      };
      socket.on('drain', pour);
      pour();
    });
    const { port } = await listen(server);
    await scan(job(['127.0.0.1'], [port]), { bannerTimes: brief });
    // Much more than a banner may fit into the kernel buffers at both ends.
    expect(written).toBeLessThan(64 * 2 ** 20);
  });

  test('gets a limited number of banner requests if it answers on every port', async () => {
    const servers = await Promise.all(
      Array.from({ length: limits.maxScanBannersPerHost + 20 }, () => listen(greeter('SSH-2.0-x_1\r\n'), '127.0.0.3')),
    );
    const { hosts, counts } = await scan(
      job(
        ['127.0.0.3'],
        servers.map(({ port }) => port),
      ),
      { bannerTimes: brief },
    );
    expect(counts).toMatchObject({ services_found: servers.length, banners_skipped: 20 });
    const named = hosts[0]!.services.filter(({ name }) => name !== undefined);
    expect(named).toHaveLength(limits.maxScanBannersPerHost);
  });
});

test('printers receive no data, so that they print nothing', async () => {
  const host = address();
  let bytes = 0;
  await listen(
    plain((socket) => void socket.on('data', (chunk) => (bytes += chunk.length))),
    host,
    9100,
  );
  const { hosts } = await scan(job([host], [9100]), { bannerTimes: brief });
  expect(hosts[0]?.services).toEqual([{ port: 9100, transport: 'tcp' }]);
  expect(bytes).toBe(0);
});

test('open ports of one host beyond the limit are counted but not reported', async () => {
  const servers = await Promise.all([1, 2, 3, 4, 5].map(() => listen(greeter('SSH-2.0-x_1\r\n'))));
  const ports = servers.map(({ port }) => port);
  const { hosts, counts } = await scan(job(['127.0.0.1'], ports), {
    bannerTimes: brief,
    maxServicesPerHost: 3,
  });
  expect(hosts[0]?.services).toHaveLength(3);
  expect(counts).toMatchObject({ services_found: 5, services_skipped: 2 });
});

describe('pace', () => {
  test('the rate of probes is limited', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'), '0.0.0.0');
    const began = performance.now();
    const { counts } = await scan(job(['127.0.1.0/26'], [server.port], { rate: 50 }), { bannerTimes: brief });
    const seconds = (performance.now() - began) / 1000;
    expect(counts.services_found).toBe(62);
    expect(server.accepted).toBe(62);
    // A slow machine takes longer, but no machine takes less time.
    expect(seconds).toBeGreaterThanOrEqual((62 - 50) / 50);
    expect(server.accepted).toBeLessThanOrEqual(50 * Math.ceil(seconds));
  });

  test('probes are spread over all hosts in turn', async () => {
    const order: string[] = [];
    const servers = await Promise.all(
      [1, 2, 3].map(() =>
        listen(
          plain((socket) => void order.push(String(socket.localAddress))),
          '0.0.0.0',
        ),
      ),
    );
    await scan(
      job(
        ['127.0.2.1', '127.0.2.2', '127.0.2.3', '127.0.2.4'],
        servers.map(({ port }) => port),
        { rate: 100 },
      ),
      {
        bannerTimes: brief,
      },
    );
    const asked = order.slice(0, 4);
    expect(new Set(asked).size).toBe(4);
  });
});

describe('in a thread', () => {
  async function thread() {
    return supervise<Scanner>({
      name: 'discovery',
      url: workerUrl('discovery'),
      list: scannerMethods,
      workerData: undefined,
      onGiveUp: () => undefined,
    });
  }

  test('a cancelled scan opens no further connections and reports its findings', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'), '0.0.0.0');
    const { port } = server;
    const opened = await thread();
    const { api } = opened;
    await api.begin(job(['127.1.0.0/16'], [port], { rate: 500 }));
    while (server.accepted < 20) await delay(10);
    const following = follow(api);
    await api.cancel();
    // Connections already accepted by the kernel are delivered in the next iterations of the event loop.
    await delay(50);
    const { accepted } = server;
    await delay(500);
    expect(server.accepted).toBe(accepted);
    const { counts, end, hosts } = await following;
    expect(end).toEqual({ outcome: 'cancelled' });
    expect(counts.hosts_done).toBeLessThan(1000);
    expect(counts.hosts_up).toBe(hosts.length);
    await api.begin(job(['127.0.0.1'], [port]));
    expect((await follow(api)).end).toEqual({ outcome: 'completed' });
    await opened.close();
  });

  test('scans run one at a time', async () => {
    const silent = await listen(tarpit());
    const opened = await thread();
    const { api } = opened;
    await api.begin(job(['127.0.0.1'], [silent.port]));
    await expect(api.begin(job(['127.0.0.1'], [silent.port]))).rejects.toMatchObject({ code: 'CONFLICT' });
    await api.cancel();
    expect((await follow(api)).end).toEqual({ outcome: 'cancelled' });
    await opened.close();
  });
});

test('the scan pauses while found hosts are not fetched', async () => {
  const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'), '0.0.0.0');
  const opened = scanner({ bannerTimes: brief });
  await opened.begin(job(['127.2.0.0/20'], [server.port], { rate: 10_000 }));
  let before = -1;
  while (server.accepted !== before) {
    before = server.accepted;
    await delay(300);
  }
  expect(server.accepted).toBeLessThan(2500);
  const { counts, end } = await follow(opened);
  expect(end).toEqual({ outcome: 'completed' });
  // A busy machine may drop a few connections.
  expect(counts.hosts_up).toBeGreaterThan(4000);
  expect(counts.hosts_done).toBe(4094);
});

test('a self-connection is not reported as a service', async () => {
  // Ephemeral ports of loopback: any of them may be chosen as the local port of a self-connection.
  const ports = Array.from({ length: 4000 }, (_, n) => 40_000 + n);
  const { hosts } = await scan(job(['127.0.0.9'], ports, { rate: 10_000 }), { bannerTimes: brief });
  expect(hosts.flatMap(({ services }) => services)).toEqual([]);
});
