import type { Logger } from 'pino';
import { Budget } from '../admission/budget.ts';
import { addressOf, type ConnectionSource, Connections } from '../admission/connections.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import { limits } from '../limits.ts';
import type { Audit } from './audit-log.ts';
import type { Authenticator, Endpoint, Observer } from './endpoint.ts';
import { Exchange } from './exchange.ts';
import { Routes } from './match.ts';
import { securityHeaders } from './security-headers.ts';
import type { IncomingRequest, ServerState } from './server-state.ts';
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
  /** The port; 0 selects a free port. */
  readonly port: number;
  /** The TLS files; plain HTTP if absent. */
  readonly tls?: TlsOptions;
  readonly endpoints: readonly Endpoint[];
  /** Endpoints that take precedence over `endpoints` for requests that prefer a page to JSON. */
  readonly pages?: readonly Endpoint[];
  readonly authenticate: Authenticator;
  /** Receives the calls of audited endpoints. */
  readonly audit?: Audit;
  readonly corsOrigins?: readonly string[];
  readonly log: Logger;
  readonly observer: Observer;
  /**
   * Registers WebSocket routes, which take precedence over endpoints of the same path. Called for the first
   * app, and again for each new certificate.
   */
  readonly sockets?: (app: TemplatedApp, front: SocketFront) => void;
  /** Closes the WebSockets of connections whose certificate has been replaced. */
  readonly leave?: (transport: Transport) => void;
  /** The counter of connections. Default: a counter with the limits of `limits`. */
  readonly connections?: Connections;
  /** The request rate limits; if absent, clients are not rate limited. */
  readonly rate?: RequestRate;
  /** How long `close` waits for accepted requests. */
  readonly drainMs: number;
  /**
   * Maximum concurrent requests; further requests are refused with OVERLOADED. Default
   * `limits.maxRequestsInFlight`.
   */
  readonly maxInFlight?: number;
}

/** The part of the server that WebSockets use. */
export interface SocketFront {
  /** The counter of connections, including WebSockets. `ended` must be called when a WebSocket has closed. */
  readonly connections: Connections;
  readonly rate?: RequestRate | undefined;
  readonly transport: Transport;
  /** Origins, in addition to the server's own, whose pages may open a socket. */
  readonly corsOrigins: readonly string[];
  /**
   * Sets the error of a refused upgrade. Must be called before the upgrade is yielded; the request then gets
   * this error like any other request.
   */
  refuse(error: unknown): void;
}

export interface Server {
  /** The port in use. */
  readonly port: number;
  /** Number of requests in progress. */
  readonly inFlight: number;
  /** Number of open connections, including WebSockets. */
  readonly connections: number;
  /** Number of response bytes that clients have not read. */
  readonly unsentBytes: number;
  /** Reads the TLS files again and logs the result. Changed files are also read automatically. */
  reloadTls(): Promise<Reloaded>;
  /**
   * Refuses new connections, waits until accepted requests are completed (at most `drainMs`), then closes all
   * connections, including WebSockets. Repeated calls return the same promise.
   */
  close(): Promise<void>;
}

/**
 * Starts to listen, exclusively on the port. Rejects with a one-line message if the address is unavailable or
 * the certificate unusable.
 *
 * A pipelined request ends the connection if the previous request is still in progress, because
 * uWebSockets.js does not order their responses. uWebSockets.js itself responds to malformed requests and
 * closes their connections.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const front: ServerState = {
    routes: new Routes(options.endpoints),
    pages: new Routes(options.pages ?? []),
    authenticate: options.authenticate,
    audit: options.audit,
    corsOrigins: options.corsOrigins ?? [],
    securityHeaders: securityHeaders(options.tls !== undefined),
    connections:
      options.connections ?? new Connections({ limitReached: (limit) => options.observer.limitReached(limit) }),
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
  /** The app that listens. */
  readonly app: TemplatedApp;
  readonly reloadTls: () => Promise<Reloaded>;
  /** Ends all connections. */
  readonly closeAll: () => void;
}

function plain(front: ServerState, options: ServerOptions): Apps {
  const app = plainApp();
  equip(app, plainTransport, front, options);
  return { app, reloadTls: async () => 'unchanged', closeAll: () => app.close() };
}

function overTls(front: ServerState, options: ServerOptions, tls: TlsOptions): Apps {
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

/** Adds routes, connection counts and sockets to an app. */
function equip(app: TemplatedApp, transport: Transport, front: ServerState, options: ServerOptions): void {
  front.connections.watch(app);
  // The connection of the request that is being routed.
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
  // The two wildcards have different names, because routes of the same name would replace each other. They
  // are tried in this order.
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

function serve(front: ServerState, res: HttpResponse, req: HttpRequest, arrival: IncomingRequest): void {
  // An empty address means that the client has reset the connection. Only the abort handler knows the address
  // whose count to reduce.
  if (arrival.address === '') return void res.close();
  try {
    new Exchange(front, res, req, arrival).begin();
  } catch (error) {
    // An exception inside a callback of uWebSockets.js would end the process.
    front.log.error({ err: error }, 'could not read a request');
    res.close();
  }
}

async function drain(front: ServerState, drainMs: number, stopListening: () => void): Promise<void> {
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
  // Part of a response may still be buffered in user space; closing now would lose it.
  await new Promise((resolve) => setTimeout(resolve, 50));
}
