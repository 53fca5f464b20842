import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/discovery/identify.ts';
import { limits } from '../../src/limits.ts';

const of = (text: string, port = 4711, tls = false) => identify(Buffer.from(text, 'latin1'), port, tls);

function mysqlGreeting(version: string): string {
  const payload = `\x0a${version}\0\x08\0\0\0abcdefgh\0`;
  return `${String.fromCharCode(payload.length)}\0\0\0${payload}`;
}

describe('protocols and software by banner', () => {
  test.each([
    ['SSH-2.0-OpenSSH_9.6\r\n', { name: 'ssh', product: 'OpenSSH', version: '9.6' }],
    ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n', { name: 'ssh', product: 'OpenSSH', version: '9.2p1' }],
    ['SSH-2.0-OpenSSH_for_Windows_8.1\r\n', { name: 'ssh', product: 'OpenSSH_for_Windows', version: '8.1' }],
    ['SSH-2.0-dropbear_2022.83\r\n', { name: 'ssh', product: 'dropbear', version: '2022.83' }],
    ['SSH-2.0-Go\r\n', { name: 'ssh', product: 'Go' }],
    ['SSH-1.99-Cisco-1.25\n', { name: 'ssh', product: 'Cisco', version: '1.25' }],
    ['HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\n\r\n', { name: 'http', product: 'nginx', version: '1.24.0' }],
    [
      'HTTP/1.1 200 OK\r\nDate: x\r\nserver:Apache/2.4.57 (Debian)\r\n\r\n',
      { name: 'http', product: 'Apache', version: '2.4.57' },
    ],
    [
      'HTTP/1.0 200 OK\nServer: SimpleHTTP/0.6 Python/3.11.2\n\n',
      { name: 'http', product: 'SimpleHTTP', version: '0.6' },
    ],
    [
      'HTTP/1.1 404 Not Found\r\nServer: Jetty(9.4.31.v20200723)\r\n\r\n',
      { name: 'http', product: 'Jetty', version: '9.4.31.v20200723' },
    ],
    [
      'HTTP/1.1 200 OK\r\nServer: Microsoft-IIS/10.0\r\n\r\n',
      { name: 'http', product: 'Microsoft-IIS', version: '10.0' },
    ],
    ['HTTP/1.1 200 OK\r\nServer: Mini web server\r\n\r\n', { name: 'http', product: 'Mini web server' }],
    ['HTTP/1.1 200 OK\r\n\r\nServer: not/1.0\r\n', { name: 'http' }],
    [
      'HTTP/1.0 200 OK\r\n\r\nIt looks like you are trying to access MongoDB over HTTP on the native driver port.',
      { name: 'mongodb' },
    ],
    ['220 mail.example.org ESMTP Postfix (Debian/GNU)\r\n', { name: 'smtp', product: 'Postfix' }],
    ['220 mx ESMTP Exim 4.96 Mon, 20 Nov 2023\r\n', { name: 'smtp', product: 'Exim', version: '4.96' }],
    ['220 (vsFTPd 3.0.3)\r\n', { name: 'ftp', product: 'vsFTPd', version: '3.0.3' }],
    ['220 ProFTPD 1.3.8 Server (x) [::ffff:1.2.3.4]\r\n', { name: 'ftp', product: 'ProFTPD', version: '1.3.8' }],
    ['+OK Dovecot (Debian) ready.\r\n', { name: 'pop3', product: 'Dovecot' }],
    ['+OK POP3 server ready\r\n', { name: 'pop3' }],
    ['* OK [CAPABILITY IMAP4rev1] Dovecot ready.\r\n', { name: 'imap', product: 'Dovecot' }],
    [mysqlGreeting('8.0.36'), { name: 'mysql', product: 'MySQL', version: '8.0.36' }],
    [mysqlGreeting('5.5.5-10.11.6-MariaDB-0+deb12u1'), { name: 'mysql', product: 'MariaDB', version: '10.11.6' }],
    ["E\0\0\0\xffj\x04Host '10.0.0.1' is not allowed to connect to this MySQL server", { name: 'mysql' }],
    ["-ERR wrong number of arguments for 'get' command\r\n", { name: 'redis', product: 'Redis' }],
    ['-DENIED Redis is running in protected mode', { name: 'redis', product: 'Redis' }],
    ['RFB 003.008\n', { name: 'vnc' }],
    ['AMQP\0\0\x09\x01', { name: 'amqp' }],
    ['@RSYNCD: 31.0\n', { name: 'rsync', product: 'rsync', version: '31.0' }],
    ['200 news.example.org InterNetNews NNRP server INN 2.7 ready\r\n', { name: 'nntp' }],
    [':irc.example.org NOTICE * :*** Looking up your hostname\r\n', { name: 'irc' }],
    ['\xff\xfd\x18\xff\xfd\x20', { name: 'telnet' }],
    [
      'RTSP/1.0 400 Bad Request\r\nServer: GStreamer RTSP server\r\n\r\n',
      { name: 'rtsp', product: 'GStreamer RTSP server' },
    ],
    ['', {}],
    ['hello', {}],
    ['220 hello\r\n', {}],
  ])('identifies %j', (text, wanted) => {
    expect(of(text)).toEqual(wanted);
  });

  test('ambiguous greetings are decided by the port', () => {
    expect(of('220 hello\r\n', 21)).toEqual({ name: 'ftp' });
    expect(of('220 hello\r\n', 25)).toEqual({ name: 'smtp' });
    expect(of('+OK hello\r\n', 110)).toEqual({ name: 'pop3' });
    expect(of('ERROR\r\n', 11_211)).toEqual({ name: 'memcached' });
  });

  test('several protocols have different names over TLS', () => {
    expect(of('HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n', 443, true)).toEqual({
      name: 'https',
      product: 'nginx',
    });
    expect(of('* OK ready', 993, true)).toEqual({ name: 'imaps' });
    expect(of('RFB 003.008\n', 5900, true)).toEqual({ name: 'vnc' });
  });
});

describe('untrusted banners', () => {
  test('result in sanitised and truncated text', () => {
    expect(of('HTTP/1.1 200 OK\r\nServer: \x1b[2J\x07evil\0\xe2\x80\xae\r\n\r\n')).toEqual({
      name: 'http',
      product: '[2J evil',
    });
    expect(
      of(`HTTP/1.1 200 OK\r\nServer: ${'a'.repeat(3000)}/1${'2'.repeat(3000)}\r\n\r\n`).product?.length,
    ).toBeLessThanOrEqual(100);
    const { product } = of(`HTTP/1.1 200 OK\r\nServer: ${'\ud83d\ude00'.repeat(3)}\r\n\r\n`);
    expect(product?.isWellFormed() ?? true).toBe(true);
  });

  test('of any bytes result in nothing, or in short well-formed text', () => {
    const start = fc.constantFrom(
      '',
      'SSH-2.0-',
      'HTTP/1.1 200 OK\r\nServer: ',
      '220 ',
      '+OK ',
      '* OK ',
      '-ERR ',
      'E\0\0\0\x0a',
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: limits.maxBannerBytes }), fc.boolean(), (text, rest, tls) => {
        const bytes = Buffer.concat([Buffer.from(text, 'latin1'), rest]).subarray(0, limits.maxBannerBytes);
        for (const value of Object.values(identify(bytes, 25, tls))) {
          expect(value.length).toBeGreaterThan(0);
          expect(value.length).toBeLessThanOrEqual(100);
          expect(value.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('with long repetitions are identified without long backtracking', () => {
    for (const text of [
      'SSH-2.0-',
      '220 ',
      '220-',
      '+OK ',
      '* OK ',
      'HTTP/1.1 200 ',
      'HTTP/1.1 200 OK\r\nServer: ',
      '-ERR ',
      'E\0\0\0\xff',
      ':',
    ])
      for (const filler of ['a', '-', '_', ' ', '\r\n', '.', '(', '/', 'a-', 'SMTP ', 'server:'])
        of((text + filler.repeat(limits.maxBannerBytes)).slice(0, limits.maxBannerBytes), 25);
  });
});
