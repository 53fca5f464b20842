import type { Role } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import type { Caller } from '../identities/access.ts';
import type { ClientCertificate } from '../identities/client-certificate.ts';
import type { AuditedCall } from './audited-call.ts';
import type { IncomingBody } from './bodies.ts';
import type { Authenticated, Call, Endpoint } from './endpoint.ts';
import type { RequestHead } from './request.ts';
import type { ServerState } from './server-state.ts';
import { asBearer } from './shippers/credentials.ts';
import { fromOtherSite } from './tls-transport.ts';

/** Returns whether credentials suffice for an operation. */
export const isAllowed = (access: 'public' | readonly Role[], { roles }: Pick<Authenticated, 'roles'>): boolean =>
  access === 'public' || access.some((role) => roles.includes(role));

/** Throws FORBIDDEN unless the credentials have one of the roles; an empty list denies everyone. */
export function authorize(access: readonly Role[], identity: Authenticated): void {
  if (isAllowed(access, identity)) return;
  if (access.length === 0) throw new ServiceError('FORBIDDEN', 'the access policy denies this operation to everyone');
  const has = identity.roles.length === 0 ? 'no role' : identity.roles.join(', ');
  throw new ServiceError('FORBIDDEN', `these credentials have ${has}, but need one of ${access.join(', ')}`);
}

/** Returns the caller of an identity change, with the roles of the caller's credentials. */
export const callerOf = ({ principal, roles }: Authenticated): Caller => ({ ...principal, roles });

/** The parts of one request that identify its sender. */
interface RequestCredentials {
  readonly head: RequestHead;
  readonly address: string;
  readonly certificate: ClientCertificate | undefined;
  /** Time of the request, by `performance.now()`. */
  readonly at: number;
}

/**
 * The sender of a request. While the request is in progress, it counts against the limit of the address, or of the
 * principal once the credentials are checked.
 */
export class RequestCaller {
  readonly #front: Pick<ServerState, 'authenticate' | 'rate' | 'corsOrigins'>;
  readonly #shown: RequestCredentials;
  #tokenShown = false;
  #identified = false;
  /** Ends the count for the principal or the address. */
  #workDone: (() => void) | undefined;
  /** Whether other requests have used up a limit on unauthenticated requests. */
  #crowdedOut = false;
  #gone = false;

  constructor(front: Pick<ServerState, 'authenticate' | 'rate' | 'corsOrigins'>, shown: RequestCredentials) {
    this.#front = front;
    this.#shown = shown;
  }

  /** Whether the request has a bearer token that the operation reads. */
  get tokenShown(): boolean {
    return this.#tokenShown;
  }

  /**
   * Checks the credentials. If the endpoint is partly public, returns the refusal for missing or insufficient
   * credentials instead of throwing it.
   *
   * @param audited - receives the identity as soon as the credentials are found valid
   * @throws UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED; CANCELLED after `end`
   */
  async identify(endpoint: Endpoint, audited: AuditedCall | undefined): Promise<Pick<Call, 'identity' | 'refusal'>> {
    // The access is read once, because the policy may change while the credentials are checked.
    const { access } = endpoint;
    if (access === 'public') return { identity: undefined, refusal: undefined };
    const { head } = this.#shown;
    const shown = head.headers.get('authorization');
    const isOther = fromOtherSite(head, this.#front.corsOrigins);
    const certificate = isOther ? undefined : this.#shown.certificate;
    // Ignores passwords and certificates from other sites, because browsers attach stored credentials to requests from
    // any page.
    const isIngest = endpoint.audited === 'ingest' && !isOther;
    const authorization = isIngest ? asBearer(shown) : shown;
    this.#tokenShown = authorization !== undefined && /^Bearer /i.test(authorization);
    let identity: Authenticated | undefined;
    try {
      const found = await this.#front.authenticate({ authorization, certificate }, Date.now());
      identity = audited === undefined ? found : withCallId(audited, found);
      this.#count(identity);
      if (audited !== undefined) audited.identity = identity;
      authorize(access, identity);
      return { identity, refusal: undefined };
    } catch (error) {
      if (!(endpoint.partlyPublic && error instanceof ServiceError) || error.code === 'RATE_LIMITED') throw error;
      // Missing credentials, and valid credentials without the role, are acceptable; invalid credentials are
      // rejected.
      const any = authorization !== undefined || certificate !== undefined;
      if (any && identity === undefined) throw error;
      return { identity, refusal: error };
    }
  }

  #count(identity: Authenticated): void {
    if (this.#gone) throw new ServiceError('CANCELLED', 'the client disconnected');
    this.#workDone = this.#front.rate?.byPrincipal(identity.principal.id, this.#shown.at);
    this.#identified = true;
  }

  /**
   * Counts the request for its address unless it counts for a principal. Must be called only after the credentials were
   * checked, so that unauthenticated requests cannot crowd out authenticated requests. Returns false if a limit is
   * reached: the response may be sent, but the server must not wait for the client.
   */
  isCounted(): boolean {
    const { rate } = this.#front;
    if (this.#workDone !== undefined || rate === undefined) return true;
    if (this.#crowdedOut) return false;
    this.#workDone = rate.withoutIdentity(this.#shown.address);
    this.#crowdedOut = this.#workDone === undefined;
    return !this.#crowdedOut;
  }

  /**
   * Waits for the rest of the body. For unauthenticated callers, the wait is short, and the number of waiting
   * requests per address is limited. Returns undefined if this limit is reached.
   */
  async waitFor<T>(body: IncomingBody, arrive: () => Promise<T>): Promise<T | undefined> {
    if (this.#identified) return arrive();
    // Bytes that the client sent together with the head are delivered before the next iteration of the event
    // loop.
    if (!body.isSettled) await new Promise((resolve) => setImmediate(resolve));
    if (body.isSettled) return arrive();
    const { rate } = this.#front;
    const done = rate === undefined ? () => undefined : rate.waitsForBody(this.#shown.address);
    if (done === undefined) return undefined;
    body.hurry();
    return arrive().finally(done);
  }

  /** Must be called when the response was sent or the client has disconnected. The request then no longer counts. */
  end(): void {
    this.#gone = true;
    this.#workDone?.();
  }
}

/**
 * Adds the id of the call to the principal, so that log entries caused by the call refer to its audit record.
 */
function withCallId({ id }: AuditedCall, { principal, ...identity }: Authenticated): Authenticated {
  return { ...identity, principal: { ...principal, call: id } };
}
