import type { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { limits } from '../limits.ts';
import { type Certificate, certificateOf } from './certificate.ts';
import type { Connections } from './connection.ts';
import { type Identified, identify } from './identify.ts';

/** What an open port offers, as far as it says. */
export interface Offered extends Identified {
  readonly certificate?: Certificate;
}

export interface BannerTimes {
  /** How long a server may take to speak first … */
  readonly greetingMs: number;
  /** … on ports where it usually does, after it looked up who connects, or to see who talks out of turn. */
  readonly lateGreetingMs: number;
  /** … to answer what it was asked, a TLS handshake too. */
  readonly answerMs: number;
  /** A server that has said something and pauses for this long has said it all. */
  readonly quietMs: number;
  /** All of it. */
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
  /** Another connection to the same port; undefined where there is none to be had. */
  again(): Promise<Socket | undefined>;
  readonly times?: BannerTimes;
}

interface Heard {
  readonly bytes: Uint8Array;
  /** The other end has closed, or cannot be talked to. */
  readonly ended: boolean;
}

/**
 * Finds out what answers behind a fresh connection, and ends it. Never rejects.
 *
 * ```
 *   usual TLS ports ──────────────────────────────► TLS ──► certificate, greeting or HTTP ──► identify
 *   others ──► greeting? ──no──► GET / HTTP/1.0 ──► answer ──────────────────────────────────► identify
 *                  └─yes──────────────────────────────────────────────────────────────────────────▲
 *                                      └─ a TLS alert, "that was plain HTTP", or hung up ──► TLS (again)
 * ```
 * Read are at most limits.maxBannerBytes of each, and nothing takes longer than `times.totalMs`, whatever the server
 * does: one that never answers costs the greeting and one answer, one that sends without end is cut off.
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
      return second === undefined
        ? {}
        : identify((await inPlain(second, peer, times)).bytes, peer.port, false);
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

/** Ports where the client begins with a TLS handshake (IANA's registry, and usual ones besides). */
const tlsPorts = new Set([
  443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 3269, 5061, 5671, 6443, 8443, 8883, 9443,
]);
/** … and where the server speaks first then. */
const greetingTlsPorts = new Set([465, 563, 990, 992, 993, 994, 995]);
/** Ports where the server speaks first. */
const greetingPorts = new Set([21, 22, 23, 25, 110, 119, 143, 587, 2121, 2525, 3306, 5900]);
/** Ports of printers, which put on paper whatever comes. */
const printerPorts = new Set([9100, 9101, 9102, 9103, 9104, 9105, 9106, 9107]);
/** Ports where the server waits for a request: no use in waiting for a greeting. */
const requestPorts = new Set([
  80, 631, 3000, 3128, 5000, 5357, 5985, 8000, 8008, 8080, 8081, 8888, 9090, 9200,
]);

async function inPlain(socket: Socket, peer: Peer, times: BannerTimes): Promise<Heard> {
  if (!requestPorts.has(peer.port)) {
    const waitMs = greetingPorts.has(peer.port) ? times.lateGreetingMs : times.greetingMs;
    const greeting = await hear(socket, waitMs, times.quietMs);
    if (greeting.bytes.length > 0 || greeting.ended || printerPorts.has(peer.port)) return greeting;
  }
  return ask(socket, peer, times);
}

/** `refused`: it came to no handshake, and soon: the server speaks no TLS, or none of ours. */
async function overTls(plain: Socket, peer: Peer, times: BannerTimes): Promise<Offered | 'refused'> {
  const socket = peer.connections.adopt(
    connectTls({
      socket: plain,
      // It is asked who it is, not trusted.
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
  const greeting = greetingTlsPorts.has(peer.port)
    ? await hear(socket, times.greetingMs, times.quietMs)
    : undefined;
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

/** Reads what comes until it is enough, pauses, ends or takes too long. The socket is paused again then. */
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

/** An alert record (RFC 8446, section 5.1), what web servers say to plain HTTP on such a port, or just the end. */
function soundsLikeTls({ bytes, ended }: Heard): boolean {
  if (bytes.length === 0) return ended;
  if (bytes[0] === 0x15 && bytes[1] === 3) return true;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return (
    /^HTTP\/1\.[01] 400 /.test(text) &&
    /HTTPS (?:port|server|scheme)|speaking plain HTTP to an SSL/i.test(text)
  );
}
