import { ServiceError } from '../errors.ts';
import type { RequestHead } from './request.ts';

/**
 * Who may open a WebSocket from a browser: CORS does not hold scripts of other sites back from that, the server has to
 * (RFC 6455, section 10.2). Our own origin may, and those of `cors.origins`; what is no browser names none.
 *
 * @param isTls - whether we are reached over TLS; behind a proxy that ends it, its origin belongs into `cors.origins`
 * @throws FORBIDDEN for any other.
 */
export function requireOrigin(head: RequestHead, isTls: boolean, origins: readonly string[]): void {
  const origin = head.headers.get('origin');
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  const own = `${isTls ? 'https' : 'http'}://${head.headers.get('host') ?? ''}`;
  if (origin.toLowerCase() === own.toLowerCase()) return;
  throw new ServiceError('FORBIDDEN', 'sockets from this origin are not allowed; cors.origins names others');
}
