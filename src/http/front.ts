import type { Logger } from 'pino';
import type { Audit } from './audit-log.ts';
import type { Budget } from './budget.ts';
import type { ConnectionSource, Connections } from './connections.ts';
import type { Authenticator, Endpoint, Observer } from './endpoint.ts';
import type { Routes } from './match.ts';
import type { Header } from './reply.ts';
import type { RequestRate } from './request-rate.ts';
import type { Transport } from './tls-transport.ts';

/** What all exchanges of a server share. */
export interface Front {
  readonly routes: Routes<Endpoint>;
  /** What stands before them for who prefers a page. */
  readonly pages: Routes<Endpoint>;
  readonly authenticate: Authenticator;
  /** Absent where no endpoint is audited. */
  readonly audit?: Audit | undefined;
  readonly corsOrigins: readonly string[];
  /** Of every answer that has none of the same name. */
  readonly securityHeaders: readonly Header[];
  readonly connections: Connections;
  /** Absent where clients may ask as often as they like. */
  readonly rate?: RequestRate | undefined;
  readonly log: Logger;
  readonly observer: Observer;
  readonly unsent: Budget;
  readonly maxInFlight: number;
  /** Requests that were not answered yet, this one included. */
  inFlight: number;
  /** Set while stopping: answers ask clients to close. */
  closing: boolean;
  /** Called when `inFlight` falls. */
  onEnd(): void;
}

/** What was known of a request before it got here. */
export interface Arrival {
  readonly transport: Transport;
  /** A second object for the connection, which can be touched when the request is answered. */
  readonly connection: ConnectionSource;
  /** Address of the client. */
  readonly address: string;
  /** Why an upgrade to a WebSocket is refused. */
  readonly refusal: unknown;
}
