/** What we take of uWebSockets.js, and how it is set up. */
import './header-limit.ts';
import * as uWS from 'uWebSockets.js';
import { createServer } from 'node:net';
import { TlsFileError, type TlsFiles } from './tls-files.ts';

export type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';

export function plainApp(): uWS.TemplatedApp {
  quiet();
  return uWS.App();
}

/** Accepts the connections of TLS apps. It hands them on before the first byte of them, so it has no certificate. */
export function acceptorApp(): uWS.TemplatedApp {
  quiet();
  return uWS.SSLApp({});
}

/**
 * TLS 1.2 with forward secrecy and authenticated encryption; RFC 9325, section 4.2, recommends these. Of TLS 1.3
 * all suites are so; what is older than 1.2 uWebSockets.js refuses by itself.
 */
const ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** A client authority makes the handshake ask for a certificate, and fail for a bad one; none at all passes. */
export function tlsApp({ cert, key, clientCa }: TlsFiles): uWS.TemplatedApp {
  try {
    return uWS.SSLApp({
      cert_file_name: cert,
      key_file_name: key,
      ...(clientCa === undefined ? {} : { ca_file_name: clientCa }),
      ssl_ciphers: ciphers,
    });
  } catch {
    // They have just been read and were good: something in them is beyond this library.
    throw new TlsFileError(
      [cert, key, clientCa].filter((path) => path !== undefined).join(', '),
      'uWebSockets.js refuses it',
    );
  }
}

/** What uWebSockets.js has at run time and its types lack. */
const untyped = uWS as unknown as {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: string): void;
};

/** Leaves out the header that names and numbers the front. */
function quiet(): void {
  untyped._cfg('silent');
}

type Listen = (
  host: string,
  port: number,
  options: number,
  callback: (socket: uWS.us_listen_socket | false) => void,
) => void;

export interface Listening {
  readonly port: number;
  /** Takes no more connections; those that there are go on. */
  stop(): void;
}

/**
 * By default several processes could listen on one port, and the system would deal connections out among them.
 *
 * @param port - 0 takes any free one
 * @throws Error with one clear line when the address cannot be had
 */
export function listen(app: uWS.TemplatedApp, host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const exclusive: Listen = app.listen.bind(app) as unknown as Listen;
    exclusive(host, port, untyped.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        requireAddress(host, port).then(() => reject(refused(host, port)), reject);
        return;
      }
      resolve({
        port: uWS.us_socket_local_port(socket as unknown as uWS.us_socket),
        stop: () => uWS.us_listen_socket_close(socket),
      });
    });
  });
}

/**
 * Makes sure that the address can be listened on, of which uWebSockets.js says no more than that it cannot.
 *
 * @throws Error with one clear line
 */
export function requireAddress(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', ({ code = '' }: NodeJS.ErrnoException) => reject(refused(host, port, code)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there; stop it, or choose another CANDOR_PORT',
  EACCES:
    'this user may not listen there (EACCES); choose a port from 1024 on, or grant CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'it is not an address of this machine; choose another CANDOR_HOST',
  ENOTFOUND: 'the name has no address; choose another CANDOR_HOST',
};

const refused = (host: string, port: number, code = ''): Error =>
  new Error(
    `cannot listen on ${host} port ${port}: ${reasons[code] ?? `the system refuses it${code && ` (${code})`}`}`,
  );
