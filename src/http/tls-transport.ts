import { X509Certificate } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { ClientCertificate } from '../identities/client-certificate.ts';
import { limits } from '../limits.ts';
import type { RequestHead } from './request.ts';

/**
 * The part of a uWebSockets.js response that returns the client's certificate. The library's types lack it.
 */
export interface CertificateSource {
  /**
   * Returns the client certificate, which the handshake has verified, as PEM without its chain. Returns an
   * empty string if the client sent no certificate.
   */
  getX509Certificate(): string;
}

/** The common properties of a listener's connections. */
export interface Transport {
  readonly isTls: boolean;
  /** Whether the TLS files were replaced. Responses then ask clients to reconnect. */
  readonly retired: boolean;
  /**
   * Returns the client certificate of a request. Must be called synchronously in the request handler, while
   * the response is valid.
   */
  certificate(res: object): ClientCertificate | undefined;
  /**
   * Throws UNAUTHENTICATED if requests need a certificate, and `certificate` is missing or not valid at
   * `nowMs`.
   */
  requireCertificate(certificate: ClientCertificate | undefined, nowMs: number): void;
}

/**
 * The properties of plain HTTP connections. `getX509Certificate` must not be called for them, because
 * uWebSockets.js would read invalid memory.
 */
export const plainTransport: Transport = {
  isTls: false,
  retired: false,
  certificate: () => undefined,
  requireCertificate: () => undefined,
};

/** The properties of the connections that were made with one version of the TLS files. */
export class TlsTransport implements Transport {
  readonly isTls = true;
  readonly #authorities: readonly X509Certificate[];
  readonly #required: boolean;
  /** Parsed certificates by their PEM text. */
  readonly #known = new Map<string, ClientCertificate>();
  #retired = false;
  /** The authorities of the current files; undefined while they include all of `#authorities`. */
  #stillTrusted: readonly X509Certificate[] | undefined;

  /** @param authorities - issuers of client certificates; if empty, no certificate is requested */
  constructor(authorities: readonly X509Certificate[], required: boolean) {
    this.#authorities = authorities;
    this.#required = required;
  }

  get retired(): boolean {
    return this.#retired;
  }

  /**
   * Marks the transport as retired and replaces the trusted authorities. If an authority of this transport is missing,
   * a certificate is valid only if one of `trusted` signed it directly, because intermediate certificates are available
   * only in the handshake.
   *
   * @returns whether an authority lost its trust
   */
  retire(trusted: readonly X509Certificate[]): boolean {
    this.#retired = true;
    const left = new Set(trusted.map(({ fingerprint256 }) => fingerprint256));
    if (this.#authorities.every(({ fingerprint256 }) => left.has(fingerprint256))) return false;
    this.#known.clear();
    this.#stillTrusted = trusted;
    return true;
  }

  /**
   * Returns the client certificate of a request; undefined if its authority is no longer trusted. Takes 11 µs, mostly
   * for uWebSockets.js to write the PEM; parsing the PEM each time would take 80 µs.
   */
  certificate(res: object): ClientCertificate | undefined {
    if (this.#authorities.length === 0) return undefined;
    const pem = (res as CertificateSource).getX509Certificate();
    if (pem === '') return undefined;
    const known = this.#known.get(pem);
    if (known !== undefined) return known;
    const certificate = read(pem);
    if (this.#stillTrusted?.some((authority) => issued(authority, certificate)) === false) return undefined;
    // The oldest certificate is dropped, and parsed again when it is next used.
    if (this.#known.size >= limits.maxKnownCertificates) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(pem, certificate);
    return certificate;
  }

  requireCertificate(certificate: ClientCertificate | undefined, nowMs: number): void {
    if (!this.#required) return;
    if (certificate !== undefined && nowMs >= certificate.validFrom && nowMs <= certificate.validTo) return;
    throw new ServiceError('UNAUTHENTICATED', 'this service requires a valid client certificate');
  }
}

function read(pem: string): ClientCertificate {
  const x509 = new X509Certificate(pem);
  return { x509, validFrom: Date.parse(x509.validFrom), validTo: Date.parse(x509.validTo) };
}

const issued = (authority: X509Certificate, { x509 }: ClientCertificate): boolean =>
  x509.checkIssued(authority) && x509.verify(authority.publicKey);

/**
 * Returns whether a browser sent the request for a page of another site. Browsers attach the certificate to
 * requests from any page, so a certificate does not prove the user's intent (CSRF). Only origins named in
 * `cors.origins` are trusted; `*` does not name an origin. Tokens in a header are unaffected, because scripts add them
 * explicitly.
 */
export function fromOtherSite(head: RequestHead, origins: readonly string[]): boolean {
  const origin = head.headers.get('origin');
  if (origin === undefined || origins.includes(origin)) return false;
  return origin.toLowerCase() !== `https://${head.headers.get('host') ?? ''}`.toLowerCase();
}
