import { addressOf } from '../../admission/connections.ts';
import { type ChannelName, channels, closeCodes } from '../../contract/channels.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { isAllowed } from '../caller.ts';
import type { Authenticator, Credentials } from '../endpoint.ts';
import { errorMessage } from '../error-reply.ts';
import type { SocketFront } from '../server.ts';
import type { Transport } from '../tls-transport.ts';
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from '../uws.ts';
import type { Hub } from './hub.ts';
import { Session, type SocketIdentity } from './session.ts';
import { bears, readUpgrade, type Upgrade } from './upgrade.ts';
import { UwsWire } from './wire.ts';

export interface SocketServices {
  readonly hub: Hub;
  readonly authenticate: Authenticator<SocketCredentials>;
  /** Returns the roles that may call an operation under the current policy. */
  readonly accessOf: (operation: OperationId) => 'public' | SocketCredentials['roles'];
  readonly now: () => number;
  readonly maxSockets: number;
  readonly limitReached: (limit: LimitName) => void;
  readonly logError: (error: unknown, message: string) => void;
}

/** The properties of authenticated credentials that a socket needs. */
export interface SocketCredentials {
  readonly principal: { readonly id: string; readonly name: string };
  readonly roles: readonly ('viewer' | 'analyst' | 'admin' | 'sensor' | 'auditor')[];
  /** The id of the session or token; absent for client certificates. */
  readonly jti?: string;
  /** When the credentials expire, epoch milliseconds; absent if they do not expire. */
  readonly expiresAt?: number;
}

export interface Sockets {
  register(app: TemplatedApp, front: SocketFront): void;
  count(): number;
  /** Closes the sockets of a token or session that was revoked. */
  revoked(jti: string): void;
  /**
   * Checks the credentials of a principal's sockets again, after a change of its roles, status or sessions.
   */
  principalChanged(id: string): void;
  /** Checks the credentials of all sockets again, after a change of the access policy. */
  policyChanged(): void;
  /** Closes every socket with a close frame that says that the service is stopping. Later upgrades are refused. */
  closeAll(): void;
  /** Closes the WebSockets of connections whose certificate was replaced. Their clients should reconnect. */
  leave(transport: Transport): void;
}

interface SocketData extends Omit<Upgrade, 'protocol'> {
  readonly operation: OperationId;
  session?: Session;
  wire?: UwsWire<SocketData>;
}

type Socket = WebSocket<SocketData>;
type UpgradeContext = Parameters<HttpResponse['upgrade']>[4];

/**
 * Channels, each with the operation whose access rules apply to its subscribers. The compiler checks that the
 * names are operations.
 */
const readers = channels satisfies Record<ChannelName, { readonly operation: OperationId }>;

const socketLimits = {
  maxSockets: 'too many open WebSockets; retry later',
  maxUnauthenticatedSockets: 'too many unauthenticated WebSockets; send a token with the upgrade, or retry later',
} as const satisfies Partial<Record<LimitName, string>>;

/** Creates the WebSocket endpoints: `/ws`, and a pre-subscribed socket for each stream path of the API. */
export function createSockets(services: SocketServices): Sockets {
  const { limitReached, logError } = services;
  const open = new Set<Socket>();
  /** Sockets that have no valid credentials yet, and wait for a token. */
  const unauthenticated = new Set<Socket>();
  /** Sockets whose credentials are being checked. */
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
    const unknown = bears(credentials) ? unchecked : unauthenticated;
    if (open.size >= services.maxSockets) return refuse(wire, 'maxSockets');
    if (unknown.size >= limits.maxUnauthenticatedSockets) return refuse(wire, 'maxUnauthenticatedSockets');
    open.add(ws);
    unknown.add(ws);
    const check = async (): Promise<SocketIdentity> => {
      try {
        return await authenticate(credentials, operation);
      } catch (error) {
        // The socket now waits for a token, like sockets without credentials.
        if (unchecked.delete(ws) && unauthenticated.add(ws).size > limits.maxUnauthenticatedSockets)
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
          unauthenticated.delete(ws);
          unchecked.delete(ws);
        },
        othersMayCome: credentials.authorization === undefined,
        ...(data.preset ? { preset: data.preset } : {}),
      },
      bears(credentials) ? check : undefined,
    );
  };

  const refuse = (wire: UwsWire<SocketData>, limit: keyof typeof socketLimits): void => {
    limitReached(limit);
    const error = new ServiceError('RATE_LIMITED', socketLimits[limit]);
    wire.send(errorMessage(error, services.now()));
    wire.close(closeCodes.tooMany, error.message);
  };

  /** Runs `work` in a callback of uWebSockets.js, where an uncaught exception would end the process. */
  const guarded = (ws: Socket, work: () => void): void => {
    try {
      work();
    } catch (error) {
      logError(error, 'could not serve a WebSocket');
      ws.getUserData().wire?.close(internalError, 'internal error');
    }
  };

  const behaviour = (
    operation: OperationId,
    channel: ChannelName | undefined,
    front: SocketFront,
  ): WebSocketBehavior<SocketData> => ({
    // The session responds to messages over its own limit with an error and a close code. For messages over
    // `maxPayloadLength`, uWebSockets.js closes the connection.
    maxPayloadLength: 4 * limits.maxSocketMessageBytes,
    // The hub stops sending at a much smaller backlog. Only a client that sends requests and never reads reaches this
    // limit.
    maxBackpressure: 4 * limits.maxSocketBacklogBytes,
    idleTimeout: limits.socketIdleTimeoutS,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => upgrade(res, req, context, operation, channel, front),
    open: (ws) => guarded(ws, () => begin(ws)),
    message: (ws, message, isBinary) =>
      guarded(ws, () => ws.getUserData().session?.receive(isBinary ? undefined : Buffer.from(message).toString())),
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
      unauthenticated.delete(ws);
      unchecked.delete(ws);
      wire?.gone();
      session?.closed();
      if (Buffer.from(message).equals(tooBig)) limitReached('maxSocketMessageBytes');
    },
  });

  /**
   * Responds with 101, or lets the HTTP server respond with the reason for the refusal. Credentials are
   * checked afterwards, and failures are reported by close codes: browsers pass close codes to a page, but not
   * statuses. The upgrade must be synchronous: in an asynchronous upgrade, uWebSockets.js reads the corked state
   * from memory that is no longer the response, and closes new sockets at random.
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
      // A browser accepts the connection only if the response names one of the offered protocols.
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
        if (session?.principalId === id) session.recheckCredentials();
      }
    },
    policyChanged() {
      for (const ws of [...open]) ws.getUserData().session?.recheckCredentials();
    },
    closeAll() {
      stopping = true;
      for (const ws of [...open]) ws.getUserData().session?.stop();
    },
    leave(transport) {
      for (const ws of [...open]) {
        const data = ws.getUserData();
        if (data.transport === transport) data.session?.stop('the TLS files changed; connect again');
      }
    },
  };
}

/** The close code for an internal error (RFC 6455, section 7.4.1). */
const internalError = 1011;

/** The close reason of uWebSockets.js for a message over `maxPayloadLength`. */
const tooBig = Buffer.from('Received too big message');
