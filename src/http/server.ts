import type { Logger } from 'pino';
import { limits } from '../limits.ts';
import type { Audit } from './audit-log.ts';
import { Budget } from './budget.ts';
import { addressOf, type ConnectionSource, Connections } from './connections.ts';
import type { Authenticator, Endpoint, Observer } from './endpoint.ts';
import { Exchange } from './exchange.ts';
import type { Arrival, Front } from './front.ts';
import { Routes } from './match.ts';
import type { RequestRate } from './request-rate.ts';
import { securityHeaders } from './security-headers.ts';
import { type Acceptor, type App, type Reloaded, TlsListener, type TlsOptions } from './tls-listener.ts';
import { plainTransport, type Transport } from './tls-transport.ts';
import {
  acceptorApp,
  type HttpRequest,
  type HttpResponse,
  listen,
  plainApp,
  type TemplatedApp,
  tlsApp,
} from './uws.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Plain HTTP where absent. */
  readonly tls?: TlsOptions;
  readonly endpoints: readonly Endpoint[];
  /** These stand before `endpoints` for requests that prefer a page to JSON. */
  readonly pages?: readonly Endpoint[];
  readonly authenticate: Authenticator;
  /** Told of the calls of audited endpoints. */
  readonly audit?: Audit;
  readonly corsOrigins?: readonly string[];
  readonly log: Logger;
  readonly observer: Observer;
  /** Registers WebSocket routes; they come before the endpoints of the same path. Called anew for each certificate. */
  readonly sockets?: (app: TemplatedApp, front: SocketFront) => void;
  /** Closes the WebSockets of connections whose certificate has been replaced, and tells them so. */
  readonly leave?: (transport: Transport) => void;
  /** Counts connections. Default: with the limits of `limits`. */
  readonly connections?: Connections;
  /** Without it, clients may ask as often as they like. */
  readonly rate?: RequestRate;
  /** How long `close` waits for requests that were accepted. */
  readonly drainMs: number;
  /** Requests in work, past which others are refused with OVERLOADED. Default `limits.maxRequestsInFlight`. */
  readonly maxInFlight?: number;
}

/** What WebSockets share with the requests beside them. */
export interface SocketFront {
  /** A socket is one of these; what closes it says `ended`. */
  readonly connections: Connections;
  readonly rate?: RequestRate | undefined;
  readonly transport: Transport;
  /** Origins, besides our own, whose browsers may open a socket. */
  readonly corsOrigins: readonly string[];
  /** To be called before an upgrade is yielded, not met: the request is answered with this error, as any other. */
  refuse(error: unknown): void;
}

export interface Server {
  /** The port that was taken. */
  readonly port: number;
  /** Requests that were not answered yet. */
  readonly inFlight: number;
  /** Open connections, WebSockets included. */
  readonly connections: number;
  /** Bytes of answers that clients have not read. */
  readonly unsentBytes: number;
  /** Reads the TLS files again; the log says what came of it. They are read without being asked when they change. */
  reloadTls(): Promise<Reloaded>;
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
    pages: new Routes(options.pages ?? []),
    authenticate: options.authenticate,
    audit: options.audit,
    corsOrigins: options.corsOrigins ?? [],
    securityHeaders: securityHeaders(options.tls !== undefined),
    connections:
      options.connections ??
      new Connections({ limitReached: (limit) => options.observer.limitReached(limit) }),
    rate: options.rate,
    log: options.log,
    observer: options.observer,
    unsent: new Budget(limits.maxUnsentReplyBytes),
    maxInFlight: options.maxInFlight ?? limits.maxRequestsInFlight,
    inFlight: 0,
    closing: false,
    onEnd: () => undefined,
  };
  const { app, reloadTls, closeAll } =
    options.tls === undefined ? plain(front, options) : overTls(front, options, options.tls);
  const listening = await listen(app, options.host, options.port).catch((error: unknown) => {
    closeAll();
    throw error;
  });

  let closed: Promise<void> | undefined;
  return {
    port: listening.port,
    get inFlight() {
      return front.inFlight;
    },
    get connections() {
      return front.connections.open;
    },
    get unsentBytes() {
      return front.unsent.used;
    },
    reloadTls,
    close() {
      closed ??= drain(front, options.drainMs, () => listening.stop()).then(closeAll);
      return closed;
    },
  };
}

interface Apps {
  /** The one that listens. */
  readonly app: TemplatedApp;
  readonly reloadTls: () => Promise<Reloaded>;
  /** Ends all connections. */
  readonly closeAll: () => void;
}

function plain(front: Front, options: ServerOptions): Apps {
  const app = plainApp();
  equip(app, plainTransport, front, options);
  return { app, reloadTls: async () => 'unchanged', closeAll: () => app.close() };
}

function overTls(front: Front, options: ServerOptions, tls: TlsOptions): Apps {
  const app = acceptorApp();
  const listener = new TlsListener({
    tls,
    acceptor: app as unknown as Acceptor,
    open(transport) {
      const child = tlsApp(tls);
      equip(child, transport, front, options);
      return child as unknown as App;
    },
    leave: (transport) => options.leave?.(transport),
    log: options.log,
  });
  const closeAll = () => {
    listener.close();
    app.close();
  };
  return { app, reloadTls: () => listener.reload(), closeAll };
}

/** Routes, counts, sockets: what makes an app ours. */
function equip(app: TemplatedApp, transport: Transport, front: Front, options: ServerOptions): void {
  front.connections.watch(app);
  // Of the request that is being routed, in this turn.
  let connection: ConnectionSource | undefined;
  let refusal: unknown;
  options.sockets?.(app, {
    connections: front.connections,
    rate: front.rate,
    transport,
    corsOrigins: front.corsOrigins,
    refuse(error) {
      refusal = error;
    },
  });
  // Two names of one wildcard: routes of the same name would replace each other, and these are tried in this order.
  app.any('/*connection', (res, req) => {
    connection = res;
    req.setYield(true);
  });
  app.any('/*', (res, req) => {
    const arrival = { transport, connection: connection!, address: addressOf(res), refusal };
    refusal = undefined;
    serve(front, res, req, arrival);
  });
}

function serve(front: Front, res: HttpResponse, req: HttpRequest, arrival: Arrival): void {
  // The client has reset the connection: only its abort handler knows which address to count down.
  if (arrival.address === '') return void res.close();
  try {
    new Exchange(front, res, req, arrival).begin();
  } catch (error) {
    // Nothing may be thrown into uWebSockets.js: it would end the process.
    front.log.error({ err: error }, 'request could not be read');
    res.close();
  }
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
