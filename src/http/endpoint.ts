import type { ShipperProtocol } from '../contract/routes/route.ts';
import type { Role } from '../contract/vocabulary.ts';
import type { ServiceError } from '../errors.ts';
import type { ClientCertificate } from '../identities/client-certificate.ts';
import type { LimitName } from '../limits.ts';
import type { Actor } from '../store/store.ts';
import type { AuditedAs, AuditedCall } from './audited-call.ts';
import type { ArrivedBody, BodyLimits } from './bodies.ts';
import type { ContentCoding } from './json-body.ts';
import type { Reply } from './reply.ts';
import type { RequestHead } from './request.ts';

/** The caller that an `Authenticator` found for credentials. */
export interface Authenticated {
  readonly principal: Actor;
  /** The roles of these credentials: all or some of the principal's roles. */
  readonly roles: readonly Role[];
  /** The id of the session or long-lived token; absent for client certificates. */
  readonly jti?: string;
  /** Expiry time in epoch milliseconds; absent if the credentials do not expire. */
  readonly expiresAt?: number;
}

/** The credentials in a request. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /**
   * The client certificate of the connection. The `Authorization` header takes precedence: an invalid header
   * is refused even if the certificate is valid.
   */
  readonly certificate?: ClientCertificate | undefined;
}

/**
 * A function that returns the caller for credentials at `now` (epoch milliseconds). Throws UNAUTHENTICATED if
 * the credentials are missing, invalid or expired.
 */
export type Authenticator<I = Authenticated> = (credentials: Credentials, now: number) => Promise<I> | I;

/** One request, parsed by the server. */
export interface Call {
  readonly head: RequestHead;
  /** Path parameters, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly requestId: string;
  /** Address of the peer, as text. */
  readonly remoteAddress: string;
  /** The sender's identity; undefined only for public and partly public endpoints. */
  readonly identity: Authenticated | undefined;
  /** The refusal for insufficient or missing credentials, if the endpoint is partly public. */
  readonly refusal: ServiceError | undefined;
  /**
   * The body, which the endpoint must release; empty if the request has no body, undefined if the endpoint accepts no
   * body.
   */
  readonly body: ArrivedBody | undefined;
  readonly coding: ContentCoding | undefined;
  /** The audit record of this call; undefined for endpoints that are not audited. */
  readonly audited?: AuditedCall | undefined;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** One operation at a method and path. */
export interface Endpoint {
  /** The operation's name in metrics and logs. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** The protocol of the endpoint's callers, which determines the form of errors. */
  readonly protocol?: ShipperProtocol;
  /** The roles that may call the endpoint; a caller needs at least one of them. */
  readonly access: 'public' | readonly Role[];
  /**
   * Whether the endpoint also serves callers without such a role; `Call.refusal` then contains the refusal.
   * Invalid credentials are refused.
   */
  readonly partlyPublic?: boolean;
  /**
   * Whether the endpoint is served even under overload. Such an endpoint accepts no body, so that a request
   * cannot occupy the server for long.
   */
  readonly alwaysAnswered?: boolean;
  readonly body?: { readonly mediaTypes: readonly string[]; readonly limits: BodyLimits };
  /** How calls of the endpoint are recorded in the audit log; undefined if they are not recorded. */
  readonly audited?: AuditedAs;
  run(call: Call): Promise<Reply> | Reply;
}

/** Receives events for metrics. `operation` is `none` if no endpoint matched. */
export interface Observer {
  answered(operation: string, status: number, elapsedMs: number): void;
  limitReached(limit: LimitName): void;
  /** Called when an operation that receives sensor data has failed. */
  sensorFailed?(call: AuditedCall, error: ServiceError): void;
}
