import { omitUndefined } from '../database/omit-undefined.ts';
import { safeText } from './safe-text.ts';

/** Identification of a server by its banner; unknown members are absent. */
export interface Identified {
  /** Application protocol. */
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
}

interface Banner {
  /** The bytes as Latin-1: one character per byte. */
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly port: number;
}

interface Protocol {
  readonly name: string;
  /** Name of the protocol over TLS, if different. */
  readonly overTls?: string;
  readonly is: (banner: Banner) => boolean;
  readonly software?: (banner: Banner) => Omit<Identified, 'name'>;
}

/** Maximum lengths; real values have fewer than 40 characters. */
const maxProductLength = 100;
const maxVersionLength = 60;

/**
 * Recognises protocol and software from the greeting of a server or its response to `GET / HTTP/1.0`.
 *
 * The expressions run over a few kilobytes of untrusted data. They are anchored or search for a literal, and
 * every repetition is bounded, so the time is linear in the length.
 *
 * @param bytes - at most limits.maxBannerBytes
 */
export function identify(bytes: Uint8Array, port: number, tls: boolean): Identified {
  const banner = { bytes, port, text: Buffer.from(bytes).toString('latin1') };
  for (const { name, overTls = name, is, software } of protocols) {
    if (!is(banner)) continue;
    const { product, version } = software?.(banner) ?? {};
    const shown = product === undefined ? undefined : safeText(utf8(product), maxProductLength);
    const number = version === undefined ? undefined : safeText(utf8(version), maxVersionLength);
    return { name: tls ? overTls : name, ...omitUndefined({ product: shown, version: number }) };
  }
  return {};
}

const starts = (expression: RegExp) => (banner: Banner) => expression.test(banner.text);

type Software = readonly [product: string, expression: RegExp];

/** Matches the first product of a list; the first group is the version. */
function oneOf(list: readonly Software[]): (banner: Banner) => Omit<Identified, 'name'> {
  return ({ text }) => {
    for (const [product, expression] of list) {
      const match = expression.exec(text);
      if (match !== null) return match[1] === undefined ? { product } : { product, version: match[1] };
    }
    return {};
  };
}

const ftpServers: readonly Software[] = [
  ['vsFTPd', /vsftpd(?: (\d[\w.]{0,20}))?/i],
  ['ProFTPD', /ProFTPD(?: (\d[\w.]{0,20}))?/],
  ['Pure-FTPd', /Pure-FTPd/],
  ['FileZilla Server', /FileZilla Server(?: version)?(?: (\d[\w.]{0,20}))?/],
  ['Microsoft FTP Service', /Microsoft FTP Service/],
];
const smtpServers: readonly Software[] = [
  ['Postfix', /ESMTP Postfix/],
  ['Exim', /ESMTP Exim(?: (\d[\w.]{0,20}))?/],
  ['Sendmail', /ESMTP Sendmail(?: (\d[\w.]{0,20}))?/],
  ['Microsoft Exchange', /Microsoft ESMTP MAIL Service/],
  ['OpenSMTPD', /ESMTP OpenSMTPD/],
  ['Haraka', /ESMTP Haraka(?:\/(\d[\w.]{0,20}))?/],
];
const mailboxServers: readonly Software[] = [
  ['Dovecot', /Dovecot/],
  ['Cyrus', /Cyrus (?:IMAP|POP3) v?(\d[\w.]{0,20})/],
  ['Courier', /Courier-IMAP/],
  ['Microsoft Exchange', /Microsoft Exchange/],
];

/** Protocols in the order in which they are tried. */
const protocols: readonly Protocol[] = [
  { name: 'ssh', is: starts(/^SSH-\d\.\d{1,2}-/), software: sshSoftware },
  { name: 'mongodb', is: starts(/^HTTP\/[\s\S]{0,400}trying to access MongoDB over HTTP/) },
  { name: 'http', overTls: 'https', is: starts(/^HTTP\/\d(?:\.\d)? \d{3}/), software: httpSoftware },
  { name: 'rtsp', is: starts(/^RTSP\/1\.\d \d{3}/), software: httpSoftware },
  {
    name: 'smtp',
    overTls: 'smtps',
    is: ({ text, port }) =>
      /^[245]\d\d[ -][^\r\n]{0,300}SMTP/.test(text) || (mailPorts.has(port) && /^[245]\d\d[ -]/.test(text)),
    software: oneOf(smtpServers),
  },
  {
    name: 'ftp',
    overTls: 'ftps',
    is: ({ text, port }) =>
      /^[245]\d\d[ -][^\r\n]{0,300}FTP/i.test(text) || (ftpPorts.has(port) && /^[245]\d\d[ -]/.test(text)),
    software: oneOf(ftpServers),
  },
  {
    name: 'pop3',
    overTls: 'pop3s',
    is: starts(/^(?:\+OK|-ERR) ?[^\r\n]{0,300}POP/i),
    software: oneOf(mailboxServers),
  },
  {
    name: 'pop3',
    overTls: 'pop3s',
    is: ({ text, port }) => pop3Ports.has(port) && text.startsWith('+OK'),
    software: oneOf(mailboxServers),
  },
  { name: 'imap', overTls: 'imaps', is: starts(/^\* (?:OK|PREAUTH|BYE)/), software: oneOf(mailboxServers) },
  {
    name: 'pop3',
    overTls: 'pop3s',
    is: starts(/^\+OK [^\r\n]{0,300}Dovecot/),
    software: oneOf(mailboxServers),
  },
  { name: 'mysql', is: ({ bytes }) => mysqlVersion(bytes) !== undefined, software: mysqlSoftware },
  {
    name: 'mysql',
    is: ({ bytes, text }) =>
      bytes[4] === 0xff && /^[\s\S]{3}\0\xff[\s\S]{2}[^\r\n]{0,200}(?:MySQL|MariaDB) server/.test(text),
  },
  {
    name: 'redis',
    is: starts(/^-(?:ERR wrong number of arguments for 'get'|ERR unknown command|NOAUTH|DENIED Redis)/i),
    software: () => ({ product: 'Redis' }),
  },
  { name: 'vnc', is: starts(/^RFB \d{3}\.\d{3}\n/) },
  { name: 'amqp', is: ({ text, bytes }) => text.startsWith('AMQP') && bytes.length === 8 },
  {
    name: 'rsync',
    is: starts(/^@RSYNCD: /),
    software: ({ text }) => ({ product: 'rsync', ...versionIn(/^@RSYNCD: (\d[\d.]{0,10})/, text) }),
  },
  { name: 'nntp', overTls: 'nntps', is: starts(/^20[01] [^\r\n]{0,300}(?:NNTP|InterNetNews|INN )/i) },
  { name: 'irc', overTls: 'ircs', is: starts(/^:[^\s]{1,100} (?:NOTICE|020|451) /) },
  { name: 'memcached', is: ({ text, port }) => port === 11_211 && text.startsWith('ERROR\r\n') },
  { name: 'telnet', is: ({ bytes }) => bytes[0] === 0xff && bytes[1]! >= 0xfb && bytes[1]! <= 0xfe },
];

const mailPorts = new Set([25, 465, 587, 2525]);
const ftpPorts = new Set([20, 21, 990, 2121]);
const pop3Ports = new Set([110, 995]);

/**
 * Parses `SSH-2.0-OpenSSH_9.6p1 Debian-3`: software, an underscore or a hyphen, its version (RFC 4253,
 * section 4.2).
 */
function sshSoftware({ text }: Banner): Omit<Identified, 'name'> {
  const software = /^SSH-\d\.\d{1,2}-([\x21-\x7e]{1,100})/.exec(text)?.[1];
  if (software === undefined) return {};
  const parts = /^([A-Za-z][A-Za-z0-9.]{0,40}(?:[-_][A-Za-z]{1,20}){0,3})[-_]v?(\d[\w.+-]{0,40})/.exec(software);
  return parts === null ? { product: software } : { product: parts[1]!, version: parts[2]! };
}

/** Parses `Server: nginx/1.24.0 (Ubuntu)`: the first product of the field (RFC 9110, section 10.2.4). */
function httpSoftware({ text }: Banner): Omit<Identified, 'name'> {
  const field = /\r?\nserver:[ \t]{0,20}([^\r\n]{1,300})/i.exec(headersOf(text))?.[1];
  if (field === undefined) return {};
  const parts = /^([^/(;]{1,80})(?:[/(]v?(\d[^\s;(),]{0,40}))?/.exec(field);
  if (parts === null) return {};
  return parts[2] === undefined ? { product: parts[1]! } : { product: parts[1]!, version: parts[2] };
}

function headersOf(text: string): string {
  const end = /\r?\n\r?\n/.exec(text);
  return end === null ? text : text.slice(0, end.index);
}

/**
 * Returns the version in Protocol::HandshakeV10 of MySQL: length, sequence 0, protocol 10, version up to a zero byte.
 * Returns undefined for other bytes.
 */
function mysqlVersion(bytes: Uint8Array): string | undefined {
  if (bytes.length < 8 || bytes[3] !== 0 || bytes[4] !== 10) return undefined;
  const end = bytes.subarray(5, 105).indexOf(0);
  const version = end < 1 ? '' : Buffer.from(bytes.subarray(5, 5 + end)).toString('latin1');
  return /^\d{1,3}\.[\x21-\x7e]{1,90}$/.test(version) ? version : undefined;
}

/** Parses the version. MariaDB prefixes it with a MySQL version for compatibility with clients. */
function mysqlSoftware({ bytes }: Banner): Omit<Identified, 'name'> {
  const version = mysqlVersion(bytes)!;
  const maria = /^(?:5\.5\.5-)?(\d[\d.]{0,20})-MariaDB/i.exec(version);
  if (maria !== null) return { product: 'MariaDB', version: maria[1]! };
  return { product: 'MySQL', version };
}

function versionIn(expression: RegExp, text: string): { version?: string } {
  const version = expression.exec(text)?.[1];
  return version === undefined ? {} : { version };
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
