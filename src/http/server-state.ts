import type { Logger } from 'pino';
import type { Budget } from '../admission/budget.ts';
import type { ConnectionSource, Connections } from '../admission/connections.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import type { Audit } from './audit-log.ts';
import type { Authenticator, Endpoint, Observer } from './endpoint.ts';
import type { Routes } from './match.ts';
import type { Header } from './reply.ts';
import type { Transport } from './tls-transport.ts';

/** The state shared by all exchanges of a server. */
export interface ServerState {
  readonly routes: Routes<Endpoint>;
  /** Endpoints that take precedence for clients that prefer a page. */
  readonly pages: Routes<Endpoint>;
  readonly authenticate: Authenticator;
  /** The audit log; absent if no endpoint is audited. */
  readonly audit?: Audit | undefined;
  readonly corsOrigins: readonly string[];
  /** Headers added to every response that has no header of the same name. */
  readonly securityHeaders: readonly Header[];
  readonly connections: Connections;
  /** The request rate limits; absent if clients are not rate limited. */
  readonly rate?: RequestRate | undefined;
  readonly log: Logger;
  readonly observer: Observer;
  readonly unsent: Budget;
  readonly maxInFlight: number;
  /** Number of requests in progress, including the current request. */
  inFlight: number;
  /** Whether the server is stopping. Responses then ask clients to close their connections. */
  closing: boolean;
  /** Must be called when `inFlight` decreases. */
  onEnd(): void;
}

/** The properties of a request that are known before routing. */
export interface IncomingRequest {
  readonly transport: Transport;
  /** A second uWebSockets.js object for the connection. Unlike the response, it may be used after the reply. */
  readonly connection: ConnectionSource;
  /** Address of the client. */
  readonly address: string;
  /** The error for a refused upgrade to a WebSocket; undefined for other requests. */
  readonly refusal: unknown;
}
