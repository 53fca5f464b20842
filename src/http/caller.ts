import type { ClientCertificate } from '../auth/client-certificate.ts';
import { ServiceError } from '../errors.ts';
import { authorize } from './access.ts';
import type { AuditedCall } from './audited-call.ts';
import type { IncomingBody } from './bodies.ts';
import type { Call, Endpoint, Identity } from './endpoint.ts';
import type { Front } from './front.ts';
import type { RequestHead } from './request.ts';
import { asBearer } from './shippers/credentials.ts';
import { fromOtherSite } from './tls-transport.ts';

/** What one request shows of who sends it. */
export interface Shown {
  readonly head: RequestHead;
  readonly address: string;
  readonly certificate: ClientCertificate | undefined;
  /** By `performance.now()`. */
  readonly at: number;
}

/**
 * Who sends a request, and what it is counted for while it is in work: the principal, as soon as that is known, else
 * the address.
 */
export class Caller {
  readonly #front: Pick<Front, 'authenticate' | 'rate' | 'corsOrigins'>;
  readonly #shown: Shown;
  #tokenShown = false;
  #identified = false;
  /** Ends what the principal, or the address, is counted for. */
  #workDone: (() => void) | undefined;
  /** The address had no room for it. */
  #crowdedOut = false;
  #gone = false;

  constructor(front: Pick<Front, 'authenticate' | 'rate' | 'corsOrigins'>, shown: Shown) {
    this.#front = front;
    this.#shown = shown;
  }

  /** Whether a bearer token came, and was read. */
  get tokenShown(): boolean {
    return this.#tokenShown;
  }

  /**
   * What the credentials mean, and how they, or their lack, are refused where an endpoint is only partly public.
   *
   * @param audited - is told who it is, as soon as that is known
   * @throws UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED; CANCELLED after `end`
   */
  async identify(
    endpoint: Endpoint,
    audited: AuditedCall | undefined,
  ): Promise<Pick<Call, 'identity' | 'refusal'>> {
    // Read once: it may be another one when the credentials have been checked.
    const { access } = endpoint;
    if (access === 'public') return { identity: undefined, refusal: undefined };
    const { head } = this.#shown;
    const shown = head.headers.get('authorization');
    const isOther = fromOtherSite(head, this.#front.corsOrigins);
    const certificate = isOther ? undefined : this.#shown.certificate;
    // Browsers send a password that they remember to whoever's page asks, as they do with certificates.
    const isIngest = endpoint.audited === 'ingest' && !isOther;
    const authorization = isIngest ? asBearer(shown) : shown;
    this.#tokenShown = authorization !== undefined && /^Bearer /i.test(authorization);
    let identity: Identity | undefined;
    try {
      const found = await this.#front.authenticate({ authorization, certificate }, Date.now());
      identity = audited === undefined ? found : through(audited, found);
      this.#count(identity);
      if (audited !== undefined) audited.identity = identity;
      authorize(access, identity);
      return { identity, refusal: undefined };
    } catch (error) {
      if (!(endpoint.partlyPublic && error instanceof ServiceError) || error.code === 'RATE_LIMITED')
        throw error;
      // None at all, or good ones of another role: not bad ones.
      const any = authorization !== undefined || certificate !== undefined;
      if (any && identity === undefined) throw error;
      return { identity, refusal: error };
    }
  }

  #count(identity: Identity): void {
    if (this.#gone) throw new ServiceError('CANCELLED', 'the client went away');
    this.#workDone = this.#front.rate?.byPrincipal(identity.principal.id, this.#shown.at);
    this.#identified = true;
  }

  /**
   * Counts it for its address, where it is not counted for a principal. Not before its credentials have been read:
   * strangers who fill the room would keep out those who are known. False where there is no room: it may be answered,
   * but not wait for anything that is up to the client.
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
   * Waits for what is up to the client, which is the rest of the body: of a caller who is not known, not for long, and
   * not for many from one address. Undefined where there is no room for one more.
   */
  async waitFor<T>(body: IncomingBody, arrive: () => Promise<T>): Promise<T | undefined> {
    if (this.#identified) return arrive();
    // What was sent with the head comes right behind it, in this turn.
    if (!body.isSettled) await new Promise((resolve) => setImmediate(resolve));
    if (body.isSettled) return arrive();
    const { rate } = this.#front;
    const done = rate === undefined ? () => undefined : rate.waitsForBody(this.#shown.address);
    if (done === undefined) return undefined;
    body.hurry();
    return arrive().finally(done);
  }

  /** The request is answered, or the client has gone. */
  end(): void {
    this.#gone = true;
    this.#workDone?.();
  }
}

/** Whatever it changes names the call, so that the record of that call can name the entries of the change. */
function through({ id }: AuditedCall, { principal, ...identity }: Identity): Identity {
  return { ...identity, principal: { ...principal, call: id } };
}
