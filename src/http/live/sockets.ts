import { STATUS_CODES } from 'node:http';
import { type ChannelName, channels, closeCodes } from '../../contract/channels.ts';
import { decodeQuery, parseStream } from '../../contract/query.ts';
import { operationIds, routeOf } from '../../contract/routes.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import type { Authenticator } from '../endpoint.ts';
import { renderError } from '../reply.ts';
import { copyHead, type RequestHead, requestId } from '../request.ts';
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from '../server.ts';
import type { Hub } from './hub.ts';
import { Session, type SessionOptions, type SocketIdentity } from './session.ts';
import { UwsWire } from './wire.ts';

export interface SocketServices {
  readonly hub: Hub;
  readonly authenticate: Authenticator<SocketCredentials>;
  readonly now: () => number;
  readonly maxSockets: number;
  readonly limitReached: (limit: LimitName) => void;
  readonly logError: (error: unknown, message: string) => void;
}

/** What the authenticator knows of a caller, as far as a socket needs it. */
export interface SocketCredentials {
  readonly principal: { readonly id: string; readonly name: string };
  readonly roles: readonly ('viewer' | 'analyst' | 'admin' | 'sensor' | 'auditor')[];
  readonly jti: string;
  /** Epoch milliseconds; absent where the credentials do not expire. */
  readonly expiresAt?: number;
}

export interface Sockets {
  register(app: TemplatedApp): void;
  count(): number;
  /** A token or session was revoked: its sockets are closed. */
  revoked(jti: string): void;
  /** The service stops: every socket is told so and closed, and none is opened any more. */
  closeAll(): void;
}

interface SocketData {
  readonly preset: SessionOptions['preset'] | undefined;
  /** Credentials of the upgrade, not checked yet. */
  readonly authorization: string | undefined;
  session?: Session;
  wire?: UwsWire<SocketData>;
}

type Socket = WebSocket<SocketData>;
type UpgradeContext = Parameters<HttpResponse['upgrade']>[4];

/** The WebSocket side of the front: `/ws` and a pre-subscribed socket for each stream path of the contract. */
export function createSockets(services: SocketServices): Sockets {
  const { limitReached, logError } = services;
  const open = new Set<Socket>();
  const strangers = new Set<Socket>();
  let stopping = false;

  const authenticate = async (authorization: string) =>
    identityOf(await services.authenticate(authorization, services.now()));

  const begin = (ws: Socket): void => {
    const data = ws.getUserData();
    const wire = new UwsWire(ws, limitReached);
    data.wire = wire;
    const full: LimitName | undefined =
      open.size >= services.maxSockets
        ? 'maxSockets'
        : data.authorization === undefined && strangers.size >= limits.maxUnauthenticatedSockets
          ? 'maxUnauthenticatedSockets'
          : undefined;
    if (full) {
      limitReached(full);
      const error = new ServiceError('RATE_LIMITED', 'too many sockets are open');
      wire.send(errorMessage(error, services.now()));
      return wire.close(closeCodes.tooMany, error.message);
    }
    open.add(ws);
    if (data.authorization === undefined) strangers.add(ws);
    data.session = new Session(
      wire,
      {
        hub: services.hub,
        authenticate: (token) => authenticate(`Bearer ${token}`),
        now: services.now,
        limitReached,
        logError,
        onAdmitted: () => strangers.delete(ws),
        ...(data.preset ? { preset: data.preset } : {}),
      },
      data.authorization === undefined ? undefined : authenticate(data.authorization),
    );
  };

  /** Nothing may be thrown into uWebSockets.js: it would end the process. */
  const guarded = (ws: Socket, work: () => void): void => {
    try {
      work();
    } catch (error) {
      logError(error, 'a WebSocket could not be served');
      ws.getUserData().wire?.close(internalError, 'internal error');
    }
  };

  const behaviour = (channel: ChannelName | undefined): WebSocketBehavior<SocketData> => ({
    // Our own limit answers with an error and a close code; beyond this one the connection is just cut.
    maxPayloadLength: 4 * limits.maxSocketMessageBytes,
    // The hub stops long before. Only one who asks and never reads gets here.
    maxBackpressure: 4 * limits.maxSocketBacklogBytes,
    idleTimeout: limits.socketIdleTimeoutS,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => upgrade(res, req, context, channel),
    open: (ws) => guarded(ws, () => begin(ws)),
    message: (ws, message, isBinary) =>
      guarded(ws, () =>
        ws.getUserData().session?.receive(isBinary ? undefined : Buffer.from(message).toString()),
      ),
    drain: (ws) =>
      guarded(ws, () => {
        const { session, wire } = ws.getUserData();
        session?.drained();
        wire?.drained();
      }),
    close: (ws, _code, message) => {
      const { session, wire } = ws.getUserData();
      open.delete(ws);
      strangers.delete(ws);
      wire?.gone();
      session?.closed();
      if (Buffer.from(message).equals(tooBig)) limitReached('maxSocketMessageBytes');
    },
  });

  /**
   * Answers 101, or an error envelope where the request cannot be met. Credentials are checked behind it, and told by
   * close codes, which browsers show to a page and statuses they don't. It must not wait: an upgrade that comes later
   * is corked, and uWebSockets.js takes what then lies in the place of the response for its state, and closes the new
   * socket at random.
   */
  const upgrade = (
    res: HttpResponse,
    req: HttpRequest,
    context: UpgradeContext,
    channel: ChannelName | undefined,
  ): void => {
    const head = copyHead(req);
    try {
      if (stopping) throw new ServiceError('UNAVAILABLE', 'the service is stopping');
      if (head.repeated !== undefined) throw invalidField(head.repeated, 'came more than once');
      const preset = presetOf(channel, head);
      const bearer = bearerOf(req.getHeader('sec-websocket-protocol'));
      const authorization =
        head.headers.get('authorization') ?? (bearer && `Bearer ${bearer.slice('bearer.'.length)}`);
      // A browser takes the connection only if one of the protocols that it offered is answered.
      res.upgrade(
        { preset, authorization },
        req.getHeader('sec-websocket-key'),
        bearer ?? '',
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    } catch (error) {
      if (!(error instanceof ServiceError)) logError(error, 'a WebSocket upgrade failed');
      const fault = error instanceof ServiceError ? error : new ServiceError('INTERNAL', 'internal error');
      const { status, headers, body } = renderError(fault, services.now());
      res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
      res.writeHeader('X-Request-Id', requestId(head));
      for (const [name, value] of headers) res.writeHeader(name, value);
      res.end(body ?? '', true);
    }
  };

  return {
    register(app) {
      for (const operation of operationIds) {
        const { path, websocket } = routeOf(operation);
        if (websocket) app.ws<SocketData>(path, behaviour(websocket.channel));
      }
    },
    count: () => open.size,
    revoked(jti) {
      for (const ws of [...open]) {
        const { session } = ws.getUserData();
        if (session?.jti === jti) session.revoke();
      }
    },
    closeAll() {
      stopping = true;
      for (const ws of [...open]) ws.getUserData().session?.stop();
    },
  };
}

/** RFC 6455, section 7.4.1. */
const internalError = 1011;

/** How uWebSockets.js says that a message was over `maxPayloadLength`. */
const tooBig = Buffer.from('Received too big message');

const readers: ReadonlySet<string> = new Set(['viewer', 'analyst', 'admin']);

function identityOf({ jti, roles, expiresAt }: SocketCredentials): SocketIdentity {
  const mayRead = roles.some((role) => readers.has(role));
  return { jti, mayRead, expiresAt: expiresAt ?? Number.POSITIVE_INFINITY };
}

/** The subprotocol that carries a token. */
function bearerOf(protocols: string): string | undefined {
  const offered = protocols.split(',').map((name) => name.trim());
  return offered.find((name) => name.startsWith('bearer.'));
}

/** What the query of a stream path subscribes to. `since` is no filter and is not echoed as one. */
function presetOf(channel: ChannelName | undefined, head: RequestHead): SessionOptions['preset'] | undefined {
  const raw = decodeQuery(head.query);
  if (channel === undefined) {
    const [unknown] = raw.keys();
    if (unknown !== undefined)
      throw invalidField(unknown.slice(0, 100).toWellFormed(), 'is not a known parameter');
    return undefined;
  }
  const parsed = parseStream(channels[channel].filters, raw);
  raw.delete('since');
  return { channel, filters: Object.fromEntries(raw), ...parsed };
}

function errorMessage({ code, message }: ServiceError, now: number): string {
  return JSON.stringify({ type: 'error', error: { code, message }, timestamp: new Date(now).toISOString() });
}
