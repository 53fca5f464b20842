import type { ClientCertificate } from '../auth/client-certificate.ts';
import type { ShipperProtocol } from '../contract/shippers.ts';
import type { Role } from '../contract/vocabulary.ts';
import type { ServiceError } from '../errors.ts';
import type { LimitName } from '../limits.ts';
import type { Actor } from '../store/store.ts';
import type { AuditedAs, AuditedCall } from './audited-call.ts';
import type { ArrivedBody, BodyTerms } from './bodies.ts';
import type { ContentCoding } from './json-body.ts';
import type { Reply } from './reply.ts';
import type { RequestHead } from './request.ts';

/** Who is calling: what an `Authenticator` found credentials to mean. */
export interface Identity {
  readonly principal: Actor;
  /** What these credentials may do: the principal's roles, or fewer. */
  readonly roles: readonly Role[];
  /** The session or the long-lived token; absent for client certificates. */
  readonly jti?: string;
  /** Epoch milliseconds; absent where the credentials do not expire. */
  readonly expiresAt?: number;
}

/** With what a caller shows who it is. */
export interface Credentials {
  /** The header. */
  readonly authorization: string | undefined;
  /** Of the connection. Where there is a header too, that one counts, and a bad one is refused all the same. */
  readonly certificate?: ClientCertificate | undefined;
}

/** Reads credentials at `now` (epoch milliseconds). UNAUTHENTICATED for none, for bad and for expired ones. */
export type Authenticator<I = Identity> = (credentials: Credentials, now: number) => Promise<I> | I;

/** One request, as far as the server understands it. */
export interface Call {
  readonly head: RequestHead;
  /** Path parameters, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly requestId: string;
  /** Text form of the peer's address. */
  readonly remoteAddress: string;
  /** Undefined for public and partly public endpoints only. */
  readonly identity: Identity | undefined;
  /** With what these credentials, or their lack, are refused where the endpoint is only partly public. */
  readonly refusal: ServiceError | undefined;
  /** Where the endpoint takes a body; whoever gets it releases it. Without one in the request, it is empty. */
  readonly body: ArrivedBody | undefined;
  readonly coding: ContentCoding | undefined;
  /** Where the audit log tells of this call; undefined for endpoints that it does not tell of. */
  readonly audited?: AuditedCall | undefined;
  /** Aborted when the client goes away: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What the server serves: one operation, whatever it does. */
export interface Endpoint {
  /** Names it in metrics and logs. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** The protocol of its callers, in which errors are answered. */
  readonly protocol?: ShipperProtocol;
  /** Roles of which the caller needs one. */
  readonly access: 'public' | readonly Role[];
  /** Run without such a role too, and told so in `Call.refusal`. Bad credentials are refused all the same. */
  readonly partlyPublic?: boolean;
  /** However much is in work. It takes no body, so that nothing of it can stay for long. */
  readonly alwaysAnswered?: boolean;
  readonly body?: { readonly mediaTypes: readonly string[]; readonly terms: BodyTerms };
  /** How its calls are written to the audit log, where they are. */
  readonly audited?: AuditedAs;
  run(call: Call): Promise<Reply> | Reply;
}

/** Told what happens, for metrics. `operation` is `none` where no endpoint was found. */
export interface Observer {
  answered(operation: string, status: number, elapsedMs: number): void;
  limitReached(limit: LimitName): void;
  /** An operation that takes data of sensors failed. */
  sensorFailed?(call: AuditedCall, error: ServiceError): void;
}
