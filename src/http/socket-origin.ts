import { ServiceError } from '../errors.ts';
import type { RequestHead } from './request.ts';

/**
 * Checks the origin of a WebSocket request. CORS does not keep scripts of other sites from opening sockets,
 * so the server must check (RFC 6455, section 10.2). The server's own origin and the origins in
 * `cors.origins` are allowed. Clients other than browsers send no origin.
 *
 * @param isTls - whether this server uses TLS; behind a proxy that terminates TLS, the proxy's origin belongs
 * in `cors.origins`
 * @throws FORBIDDEN for any other origin
 */
export function requireOrigin(head: RequestHead, isTls: boolean, origins: readonly string[]): void {
  const origin = head.headers.get('origin');
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  const own = `${isTls ? 'https' : 'http'}://${head.headers.get('host') ?? ''}`;
  if (origin.toLowerCase() === own.toLowerCase()) return;
  throw new ServiceError(
    'FORBIDDEN',
    'sockets from this origin are not allowed; allowed origins are set in cors.origins',
  );
}
