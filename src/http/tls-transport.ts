import { X509Certificate } from 'node:crypto';
import type { ClientCertificate } from '../auth/client-certificate.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { RequestHead } from './request.ts';

/** The part of a uWebSockets.js response that tells of the client's certificate. Its types lack it. */
export interface CertificateSource {
  /** PEM of the client's own certificate, whose chain the handshake has verified; empty where it showed none. */
  getX509Certificate(): string;
}

/** What the connections of one listener have in common: how they came, and what they say of their clients. */
export interface Transport {
  readonly isTls: boolean;
  /** It was replaced by another: answers ask clients to connect anew. */
  readonly retired: boolean;
  /** To be called in the turn of the request, while its response lives. */
  certificate(res: object): ClientCertificate | undefined;
  /** UNAUTHENTICATED where every request has to come with a certificate, and this one has none that is valid now. */
  requireCertificate(certificate: ClientCertificate | undefined, nowMs: number): void;
}

/** Without TLS. There is nothing behind the response to be asked: uWebSockets.js would read what isn't there. */
export const plainTransport: Transport = {
  isTls: false,
  retired: false,
  certificate: () => undefined,
  requireCertificate: () => undefined,
};

/** The connections that were made under one reading of the TLS files. */
export class TlsTransport implements Transport {
  readonly isTls = true;
  readonly #authorities: readonly X509Certificate[];
  readonly #required: boolean;
  /** By their PEM text. */
  readonly #known = new Map<string, ClientCertificate>();
  #retired = false;
  /** Undefined as long as all of `#authorities` are trusted. */
  #stillTrusted: readonly X509Certificate[] | undefined;

  /** @param authorities - under which client certificates may be issued; without any, none is asked for */
  constructor(authorities: readonly X509Certificate[], required: boolean) {
    this.#authorities = authorities;
    this.#required = required;
  }

  get retired(): boolean {
    return this.#retired;
  }

  /**
   * Others are trusted from now on. Where one of ours is not among them, certificates count only if one that is left
   * signed them directly: what lay between was in the handshake and is gone.
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

  /** Costs 11 µs, most of which uWebSockets.js takes to write the PEM; reading it anew would cost 80. */
  certificate(res: object): ClientCertificate | undefined {
    if (this.#authorities.length === 0) return undefined;
    const pem = (res as CertificateSource).getX509Certificate();
    if (pem === '') return undefined;
    const known = this.#known.get(pem);
    if (known !== undefined) return known;
    const certificate = read(pem);
    if (this.#stillTrusted?.some((authority) => issued(authority, certificate)) === false) return undefined;
    // The oldest goes; it is read again when it comes back.
    if (this.#known.size >= limits.maxKnownCertificates) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(pem, certificate);
    return certificate;
  }

  requireCertificate(certificate: ClientCertificate | undefined, nowMs: number): void {
    if (!this.#required) return;
    if (certificate !== undefined && nowMs >= certificate.validFrom && nowMs <= certificate.validTo) return;
    throw new ServiceError('UNAUTHENTICATED', 'this service answers only with a valid client certificate');
  }
}

function read(pem: string): ClientCertificate {
  const x509 = new X509Certificate(pem);
  return { x509, validFrom: Date.parse(x509.validFrom), validTo: Date.parse(x509.validTo) };
}

const issued = (authority: X509Certificate, { x509 }: ClientCertificate): boolean =>
  x509.checkIssued(authority) && x509.verify(authority.publicKey);

/**
 * Whether a browser sent this for a page of another site. It adds the certificate by itself, whoever's page asks, so
 * there the certificate says nothing about who wants it (CSRF). Only origins that are named in `cors.origins` speak
 * for themselves; `*` names none. A token in a header is added by a script that has it, and is not touched by this.
 */
export function fromOtherSite(head: RequestHead, origins: readonly string[]): boolean {
  const origin = head.headers.get('origin');
  if (origin === undefined || origins.includes(origin)) return false;
  return origin.toLowerCase() !== `https://${head.headers.get('host') ?? ''}`.toLowerCase();
}
