import './header-limit.ts';
import * as uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import { limits } from '../limits.ts';
import { Budget } from './budget.ts';
import type { Authenticator, Endpoint, Observer } from './endpoint.ts';
import { Exchange, type Front } from './exchange.ts';
import { Routes } from './match.ts';

export type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Paths of PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  readonly endpoints: readonly Endpoint[];
  readonly authenticate: Authenticator;
  readonly corsOrigins?: readonly string[];
  readonly log: Logger;
  readonly observer: Observer;
  /** Registers WebSocket routes; they come before the endpoints of the same path. */
  readonly sockets?: (app: uWS.TemplatedApp) => void;
  /** How long `close` waits for requests that were accepted. */
  readonly drainMs: number;
  /** Requests in work, past which others are refused with OVERLOADED. Default `limits.maxRequestsInFlight`. */
  readonly maxInFlight?: number;
}

export interface Server {
  /** The port that was taken. */
  readonly port: number;
  /** Requests that were not answered yet. */
  readonly inFlight: number;
  /**
   * Refuses new connections, waits until what was accepted is answered (at most `drainMs`), then closes all
   * connections, sockets included. Repeated calls wait for the same end.
   */
  close(): Promise<void>;
}

/**
 * Starts to listen, with the port to itself. Rejects with one clear line when the address cannot be had or the
 * certificate cannot be used.
 *
 * Requests that a client pipelines behind one whose answer takes time end the connection: uWebSockets.js has no
 * order for their answers. Malformed requests never get here: it answers them itself and closes.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const front: Front = {
    routes: new Routes(options.endpoints),
    authenticate: options.authenticate,
    corsOrigins: options.corsOrigins ?? [],
    log: options.log,
    observer: options.observer,
    unsent: new Budget(limits.maxUnsentReplyBytes),
    maxInFlight: options.maxInFlight ?? limits.maxRequestsInFlight,
    inFlight: 0,
    closing: false,
    onEnd: () => undefined,
  };
  const app = createApp(options.tls);
  options.sockets?.(app);
  app.any('/*', (res, req) => serve(front, res, req));
  const listening = await listen(app, options.host, options.port);

  let closed: Promise<void> | undefined;
  return {
    port: uWS.us_socket_local_port(listening as unknown as uWS.us_socket),
    get inFlight() {
      return front.inFlight;
    },
    close() {
      closed ??= drain(front, options.drainMs, () => uWS.us_listen_socket_close(listening)).then(() => {
        app.close();
      });
      return closed;
    },
  };
}

function serve(front: Front, res: uWS.HttpResponse, req: uWS.HttpRequest): void {
  try {
    new Exchange(front, res, req).begin();
  } catch (error) {
    // Nothing may be thrown into uWebSockets.js: it would end the process.
    front.log.error({ err: error }, 'request could not be read');
    res.close();
  }
}

function createApp(tls: ServerOptions['tls']): uWS.TemplatedApp {
  quiet();
  if (tls === undefined) return uWS.App();
  try {
    return uWS.SSLApp({
      cert_file_name: tls.cert,
      key_file_name: tls.key,
      ...(tls.clientCa === undefined ? {} : { ca_file_name: tls.clientCa }),
    });
  } catch {
    throw new Error(
      `TLS cannot be set up with certificate ${tls.cert} and key ${tls.key}: not a matching PEM pair`,
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

/** By default several processes could listen on one port, and the system would deal connections out among them. */
function listen(app: uWS.TemplatedApp, host: string, port: number): Promise<uWS.us_listen_socket> {
  return new Promise((resolve, reject) => {
    const exclusive: Listen = app.listen.bind(app) as unknown as Listen;
    exclusive(host, port, untyped.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket !== false) resolve(socket);
      else
        reject(
          new Error(`cannot listen on ${host} port ${port}: it is taken, or not an address of this machine`),
        );
    });
  });
}

async function drain(front: Front, drainMs: number, stopListening: () => void): Promise<void> {
  front.closing = true;
  stopListening();
  if (front.inFlight > 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        front.log.warn({ requests: front.inFlight }, 'stopping before all accepted requests were answered');
        resolve();
      }, drainMs);
      front.onEnd = () => {
        if (front.inFlight > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
  // An answer may still be in the last buffer before the system; closing now would lose it.
  await new Promise((resolve) => setTimeout(resolve, 50));
}
