import type { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { limits } from '../limits.ts';
import { type Certificate, certificateOf } from './certificate.ts';
import type { Connections } from './connection.ts';
import { type Identified, identify } from './identify.ts';

/** The service on an open port; members that could not be identified are absent. */
export interface Offered extends Identified {
  readonly certificate?: Certificate;
}

export interface BannerTimes {
  /** Milliseconds to wait for a greeting from the server. */
  readonly greetingMs: number;
  /**
   * Milliseconds to wait on ports where the server usually sends a greeting. Some servers delay the greeting for
   * a reverse lookup or to detect clients that send data too early.
   */
  readonly lateGreetingMs: number;
  /** Milliseconds to wait for a response or for a TLS handshake. */
  readonly answerMs: number;
  /** Milliseconds of silence after which a greeting or response is complete. */
  readonly quietMs: number;
  /** Maximum milliseconds in total. */
  readonly totalMs: number;
}

export const bannerTimes: BannerTimes = {
  greetingMs: 1200,
  lateGreetingMs: 5000,
  answerMs: 2000,
  quietMs: 200,
  totalMs: limits.bannerTimeoutMs,
};

interface Peer {
  readonly ip: string;
  readonly port: number;
  readonly connections: Connections;
  /** Opens another connection to the same port; undefined if that fails. */
  again(): Promise<Socket | undefined>;
  readonly times?: BannerTimes;
}

interface Heard {
  readonly bytes: Uint8Array;
  /** Whether the peer has closed the connection, or the connection failed. */
  readonly ended: boolean;
}

/**
 * Identifies the service behind a new connection and closes the connection. Never rejects.
 *
 * ```
 *   usual TLS ports ──────────────────────────────► TLS ──► certificate, greeting or HTTP ──► identify
 *   others ──► greeting? ──no──► GET / HTTP/1.0 ──► answer ──────────────────────────────────► identify
 *                  └─yes──────────────────────────────────────────────────────────────────────────▲
 *                                      └─ a TLS alert, "that was plain HTTP", or a close ──► TLS (again)
 * ```
 * At most limits.maxBannerBytes are read per connection, and the identification takes at most `times.totalMs`
 * regardless of the server. A silent server takes the greeting time and one response time. An endless response is
 * truncated.
 */
export async function offeredBy(first: Socket, peer: Peer): Promise<Offered> {
  const times = peer.times ?? bannerTimes;
  const sockets: { destroy(): unknown }[] = [first];
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    for (const socket of sockets) socket.destroy();
  }, times.totalMs);
  const again = async (): Promise<Socket | undefined> => {
    const socket = late ? undefined : await peer.again();
    if (socket === undefined) return undefined;
    sockets.push(socket);
    if (late) socket.destroy();
    return late ? undefined : socket;
  };
  try {
    if (tlsPorts.has(peer.port)) {
      const secure = await overTls(first, peer, times);
      if (secure !== 'refused') return secure;
      const second = await again();
      return second === undefined ? {} : identify((await inPlain(second, peer, times)).bytes, peer.port, false);
    }
    const heard = await inPlain(first, peer, times);
    if (!soundsLikeTls(heard)) return identify(heard.bytes, peer.port, false);
    const second = await again();
    const secure = second === undefined ? 'refused' : await overTls(second, peer, times);
    return secure === 'refused' ? identify(heard.bytes, peer.port, false) : secure;
  } finally {
    clearTimeout(deadline);
    for (const socket of sockets) socket.destroy();
  }
}

/** Ports where the client starts with a TLS handshake (from the IANA registry, and other common ports). */
const tlsPorts = new Set([
  443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 3269, 5061, 5671, 6443, 8443, 8883, 9443,
]);
/** TLS ports where the server sends a greeting after the handshake. */
const greetingTlsPorts = new Set([465, 563, 990, 992, 993, 994, 995]);
/** Ports where the server sends a greeting. */
const greetingPorts = new Set([21, 22, 23, 25, 110, 119, 143, 587, 2121, 2525, 3306, 5900]);
/** Ports of printers, which print whatever they receive. */
const printerPorts = new Set([9100, 9101, 9102, 9103, 9104, 9105, 9106, 9107]);
/** Ports where the server waits for a request and sends no greeting. */
const requestPorts = new Set([80, 631, 3000, 3128, 5000, 5357, 5985, 8000, 8008, 8080, 8081, 8888, 9090, 9200]);

async function inPlain(socket: Socket, peer: Peer, times: BannerTimes): Promise<Heard> {
  if (!requestPorts.has(peer.port)) {
    const waitMs = greetingPorts.has(peer.port) ? times.lateGreetingMs : times.greetingMs;
    const greeting = await hear(socket, waitMs, times.quietMs);
    if (greeting.bytes.length > 0 || greeting.ended || printerPorts.has(peer.port)) return greeting;
  }
  return ask(socket, peer, times);
}

/**
 * Identifies the service behind a TLS handshake. Returns `refused` if the handshake fails before the timeout: the
 * server does not support TLS or a common version.
 */
async function overTls(plain: Socket, peer: Peer, times: BannerTimes): Promise<Offered | 'refused'> {
  const socket = peer.connections.adopt(
    connectTls({
      socket: plain,
      // The certificate is recorded but not trusted.
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
      ALPNProtocols: ['http/1.1'],
    }),
  );
  const shaken = await handshake(socket, times.answerMs);
  if (shaken !== 'done') {
    socket.destroy();
    return shaken === 'refused' ? 'refused' : {};
  }
  const certificate = certificateOf(socket.getPeerCertificate());
  const greeting = greetingTlsPorts.has(peer.port) ? await hear(socket, times.greetingMs, times.quietMs) : undefined;
  const heard =
    greeting === undefined || (greeting.bytes.length === 0 && !greeting.ended)
      ? await ask(socket, peer, times)
      : greeting;
  socket.destroy();
  return {
    name: 'tls',
    ...identify(heard.bytes, peer.port, true),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

function handshake(socket: TLSSocket, timeoutMs: number): Promise<'done' | 'refused' | 'silent'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('silent'), timeoutMs);
    const settle = (outcome: 'done' | 'refused') => {
      clearTimeout(timer);
      resolve(outcome);
    };
    socket.once('secureConnect', () => settle('done'));
    socket.on('error', () => settle('refused'));
    socket.once('close', () => settle('refused'));
  });
}

function ask(socket: Socket, { ip }: Peer, times: BannerTimes): Promise<Heard> {
  const host = ip.includes(':') ? `[${ip}]` : ip;
  socket.write(`GET / HTTP/1.0\r\nHost: ${host}\r\nUser-Agent: Candor\r\nAccept: */*\r\n\r\n`);
  return hear(socket, times.answerMs, times.quietMs);
}

/**
 * Reads until the buffer is full, the peer pauses or closes, or the time is over. The socket is paused
 * afterwards.
 */
function hear(socket: Socket, timeoutMs: number, quietMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const bytes = Buffer.alloc(limits.maxBannerBytes);
    let length = 0;
    let quiet: NodeJS.Timeout | undefined;
    const settle = (ended: boolean): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
      socket.off('data', take).off('end', end).off('close', end).off('error', end).pause();
      resolve({ bytes: bytes.subarray(0, length), ended });
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    const end = (): void => settle(true);
    const take = (chunk: Buffer): void => {
      length += chunk.copy(bytes, length);
      if (length === bytes.length) {
        socket.destroy();
        return settle(true);
      }
      clearTimeout(quiet);
      quiet = setTimeout(() => settle(false), quietMs);
    };
    socket.on('data', take).once('end', end).once('close', end).once('error', end);
    if (socket.destroyed) return end();
    socket.resume();
  });
}

/**
 * Returns whether a response indicates TLS: an alert record (RFC 8446, section 5.1), the response of a web server to
 * plain HTTP on a TLS port, or an immediate close.
 */
function soundsLikeTls({ bytes, ended }: Heard): boolean {
  if (bytes.length === 0) return ended;
  if (bytes[0] === 0x15 && bytes[1] === 3) return true;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return /^HTTP\/1\.[01] 400 /.test(text) && /HTTPS (?:port|server|scheme)|speaking plain HTTP to an SSL/i.test(text);
}
