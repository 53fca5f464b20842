import { type ChannelName, channels, closeCodes } from '../../contract/channels.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { isAllowed } from '../access.ts';
import { addressOf } from '../connections.ts';
import type { Authenticator, Credentials } from '../endpoint.ts';
import type { SocketFront } from '../server.ts';
import type { Transport } from '../tls-transport.ts';
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from '../uws.ts';
import { errorMessage } from './error-message.ts';
import type { Hub } from './hub.ts';
import { Session, type SocketIdentity } from './session.ts';
import { bears, readUpgrade, type Upgrade } from './upgrade.ts';
import { UwsWire } from './wire.ts';

export interface SocketServices {
  readonly hub: Hub;
  readonly authenticate: Authenticator<SocketCredentials>;
  /** Who may, as of now. */
  readonly accessOf: (operation: OperationId) => 'public' | SocketCredentials['roles'];
  readonly now: () => number;
  readonly maxSockets: number;
  readonly limitReached: (limit: LimitName) => void;
  readonly logError: (error: unknown, message: string) => void;
}

/** What the authenticator knows of a caller, as far as a socket needs it. */
export interface SocketCredentials {
  readonly principal: { readonly id: string; readonly name: string };
  readonly roles: readonly ('viewer' | 'analyst' | 'admin' | 'sensor' | 'auditor')[];
  /** Absent for client certificates. */
  readonly jti?: string;
  /** Epoch milliseconds; absent where the credentials do not expire. */
  readonly expiresAt?: number;
}

export interface Sockets {
  register(app: TemplatedApp, front: SocketFront): void;
  count(): number;
  /** A token or session was revoked: its sockets are closed. */
  revoked(jti: string): void;
  /** A principal's roles, status or sessions changed: its sockets stay open only as far as their credentials still do. */
  principalChanged(id: string): void;
  /** Who may do what changed: the same for all sockets. */
  policyChanged(): void;
  /** The service stops: every socket is told so and closed, and none is opened any more. */
  closeAll(): void;
  /** The certificate of these connections was replaced: their sockets are told to come back. */
  leave(transport: Transport): void;
}

interface SocketData extends Omit<Upgrade, 'protocol'> {
  readonly operation: OperationId;
  session?: Session;
  wire?: UwsWire<SocketData>;
}

type Socket = WebSocket<SocketData>;
type UpgradeContext = Parameters<HttpResponse['upgrade']>[4];

/** By channel, who may subscribe; the compiler proves that these are operations. */
const readers = channels satisfies Record<ChannelName, { readonly operation: OperationId }>;

/** The WebSocket side of the front: `/ws` and a pre-subscribed socket for each stream path of the contract. */
export function createSockets(services: SocketServices): Sockets {
  const { limitReached, logError } = services;
  const open = new Set<Socket>();
  /** They have not said who they are … */
  const strangers = new Set<Socket>();
  /** … or it is not known yet whether that is true. */
  const unchecked = new Set<Socket>();
  let stopping = false;

  const authenticate = async (credentials: Credentials, operation: OperationId): Promise<SocketIdentity> => {
    const caller = await services.authenticate(credentials, services.now());
    return {
      principalId: caller.principal.id,
      ...(caller.jti === undefined ? {} : { jti: caller.jti }),
      mayRead: (channel) => {
        const access = services.accessOf(channel === undefined ? operation : readers[channel].operation);
        return isAllowed(access, caller);
      },
      expiresAt: caller.expiresAt ?? Number.POSITIVE_INFINITY,
    };
  };

  const begin = (ws: Socket): void => {
    const data = ws.getUserData();
    const wire = new UwsWire(ws, limitReached);
    data.wire = wire;
    const { credentials, operation } = data;
    const unknown = bears(credentials) ? unchecked : strangers;
    if (open.size >= services.maxSockets) return refuse(wire, 'maxSockets');
    if (unknown.size >= limits.maxUnauthenticatedSockets) return refuse(wire, 'maxUnauthenticatedSockets');
    open.add(ws);
    unknown.add(ws);
    const check = async (): Promise<SocketIdentity> => {
      try {
        return await authenticate(credentials, operation);
      } catch (error) {
        // Without a token yet, it waits for one as others do.
        if (unchecked.delete(ws) && strangers.add(ws).size > limits.maxUnauthenticatedSockets)
          refuse(wire, 'maxUnauthenticatedSockets');
        throw error;
      }
    };
    data.session = new Session(
      wire,
      {
        hub: services.hub,
        authenticate: (token) => authenticate({ authorization: `Bearer ${token}` }, operation),
        now: services.now,
        limitReached,
        logError,
        onAdmitted() {
          strangers.delete(ws);
          unchecked.delete(ws);
        },
        othersMayCome: credentials.authorization === undefined,
        ...(data.preset ? { preset: data.preset } : {}),
      },
      bears(credentials) ? check : undefined,
    );
  };

  const refuse = (wire: UwsWire<SocketData>, limit: LimitName): void => {
    limitReached(limit);
    const error = new ServiceError('RATE_LIMITED', 'too many sockets are open');
    wire.send(errorMessage(error, services.now()));
    wire.close(closeCodes.tooMany, error.message);
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

  const behaviour = (
    operation: OperationId,
    channel: ChannelName | undefined,
    front: SocketFront,
  ): WebSocketBehavior<SocketData> => ({
    // Our own limit answers with an error and a close code; beyond this one the connection is just cut.
    maxPayloadLength: 4 * limits.maxSocketMessageBytes,
    // The hub stops long before. Only one who asks and never reads gets here.
    maxBackpressure: 4 * limits.maxSocketBacklogBytes,
    idleTimeout: limits.socketIdleTimeoutS,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => upgrade(res, req, context, operation, channel, front),
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
      const { address, session, wire } = ws.getUserData();
      front.connections.ended(address);
      open.delete(ws);
      strangers.delete(ws);
      unchecked.delete(ws);
      wire?.gone();
      session?.closed();
      if (Buffer.from(message).equals(tooBig)) limitReached('maxSocketMessageBytes');
    },
  });

  /**
   * Answers 101, or leaves it to the front to answer why the request cannot be met. Credentials are checked behind it, and told by
   * close codes, which browsers show to a page and statuses they don't. It must not wait: an upgrade that comes later
   * is corked, and uWebSockets.js takes what then lies in the place of the response for its state, and closes the new
   * socket at random.
   */
  const upgrade = (
    res: HttpResponse,
    req: HttpRequest,
    context: UpgradeContext,
    operation: OperationId,
    channel: ChannelName | undefined,
    front: SocketFront,
  ): void => {
    try {
      front.rate?.fromAddress(addressOf(res), performance.now());
      if (stopping) throw new ServiceError('UNAVAILABLE', 'the service is stopping');
      const { protocol, ...wanted } = readUpgrade(res, req, channel, front, services.now());
      // A browser takes the connection only if one of the protocols that it offered is answered.
      res.upgrade(
        { ...wanted, operation },
        req.getHeader('sec-websocket-key'),
        protocol,
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    } catch (error) {
      front.refuse(error);
      req.setYield(true);
    }
  };

  return {
    register(app, front) {
      for (const operation of operationIds) {
        const { path, websocket } = routeOf(operation);
        if (websocket) app.ws<SocketData>(path, behaviour(operation, websocket.channel, front));
      }
    },
    count: () => open.size,
    revoked(jti) {
      for (const ws of [...open]) {
        const { session } = ws.getUserData();
        if (session?.jti === jti) session.revoke();
      }
    },
    principalChanged(id) {
      for (const ws of [...open]) {
        const { session } = ws.getUserData();
        if (session?.principalId === id) session.judgeAnew();
      }
    },
    policyChanged() {
      for (const ws of [...open]) ws.getUserData().session?.judgeAnew();
    },
    closeAll() {
      stopping = true;
      for (const ws of [...open]) ws.getUserData().session?.stop();
    },
    leave(transport) {
      for (const ws of [...open]) {
        const data = ws.getUserData();
        if (data.transport === transport) data.session?.stop();
      }
    },
  };
}

/** RFC 6455, section 7.4.1. */
const internalError = 1011;

/** How uWebSockets.js says that a message was over `maxPayloadLength`. */
const tooBig = Buffer.from('Received too big message');
