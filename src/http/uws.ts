/** The parts of uWebSockets.js in use, and their setup. */
import './header-limit.ts';
import * as uWS from 'uWebSockets.js';
import { createServer } from 'node:net';
import { TlsFileError, type TlsFiles } from './tls-files.ts';

export type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';

export function plainApp(): uWS.TemplatedApp {
  quiet();
  return uWS.App();
}

/**
 * Creates the app that accepts the connections of TLS apps. It passes connections on before their first byte,
 * so it needs no certificate.
 */
export function acceptorApp(): uWS.TemplatedApp {
  quiet();
  return uWS.SSLApp({});
}

/**
 * Ciphers of TLS 1.2 with forward secrecy and authenticated encryption, as recommended in RFC 9325, section
 * 4.2. All TLS 1.3 suites qualify; uWebSockets.js refuses versions before 1.2.
 */
const ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * Creates a TLS app. With a client authority, the handshake requests a certificate and fails if the certificate is
 * invalid; a missing certificate is accepted.
 */
export function tlsApp({ cert, key, clientCa }: TlsFiles): uWS.TemplatedApp {
  try {
    return uWS.SSLApp({
      cert_file_name: cert,
      key_file_name: key,
      ...(clientCa === undefined ? {} : { ca_file_name: clientCa }),
      ssl_ciphers: ciphers,
    });
  } catch {
    // The files were read before and are valid, so the library does not support a part of their content.
    throw new TlsFileError(
      [cert, key, clientCa].filter((path) => path !== undefined).join(', '),
      'uWebSockets.js rejects it',
    );
  }
}

/** Parts of uWebSockets.js that exist at run time but not in its types. */
const untyped = uWS as unknown as {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: string): void;
};

/** Disables the response header with the name and version of uWebSockets.js. */
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
  /** Stops accepting connections; existing connections continue. */
  stop(): void;
}

/**
 * Listens on a port exclusively. By default, several processes could listen on one port and share its
 * connections.
 *
 * @param port - 0 selects a free port
 * @throws Error with a one-line message if the address is unavailable
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
 * Checks that the server can listen on an address, because uWebSockets.js does not report the reason if it
 * cannot.
 *
 * @throws Error with a one-line message that states the reason
 */
export function requireAddress(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', ({ code = '' }: NodeJS.ErrnoException) => reject(refused(host, port, code)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another process; stop it, or choose another CANDOR_PORT',
  EACCES: 'this user cannot listen on this port (EACCES); choose a port from 1024 on, or grant CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'it is not an address of this machine; choose another CANDOR_HOST',
  ENOTFOUND: 'the name has no address; choose another CANDOR_HOST',
};

const refused = (host: string, port: number, code = ''): Error =>
  new Error(
    `cannot listen on ${host} port ${port}: ${reasons[code] ?? `the operating system refused to listen${code && ` (${code})`}`}`,
  );
