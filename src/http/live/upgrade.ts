import { addressOf } from '../../admission/connections.ts';
import { type ChannelName, channels } from '../../contract/channels.ts';
import { decodeQuery, parseStream } from '../../contract/query.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { Credentials } from '../endpoint.ts';
import { copyHead, framing, type RequestHead } from '../request.ts';
import type { SocketFront } from '../server.ts';
import { fromOtherSite, type Transport } from '../tls-transport.ts';
import { refuseCredentials } from '../url-credentials.ts';
import type { HttpRequest, HttpResponse } from '../uws.ts';
import type { Preset } from './subscriptions.ts';

/** A valid request for a WebSocket. */
export interface Upgrade {
  /** The client's address, kept because a closed socket has no address. */
  readonly address: string;
  readonly transport: Transport;
  /** The credentials, not checked yet. */
  readonly credentials: Credentials;
  /** The subscription that the path and its query specify. */
  readonly preset: Preset | undefined;
  /** The subprotocol for the response; empty for none. */
  readonly protocol: string;
}

/**
 * Headers that a handshake must have (RFC 6455, section 4.2.1). uWebSockets.js checks only the key; a proxy
 * that also checks the other headers would treat the following bytes as HTTP.
 */
const handshake = [
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
] as const;

/**
 * Reads a request for a WebSocket, at `now` (epoch milliseconds).
 *
 * @param channel - the channel of a stream path
 * @throws INVALID_REQUEST, FORBIDDEN for a page of another site, UNAUTHENTICATED without a required
 * certificate
 */
export function readUpgrade(
  res: HttpResponse,
  req: HttpRequest,
  channel: ChannelName | undefined,
  { transport, corsOrigins }: SocketFront,
  now: number,
): Upgrade {
  const head = copyHead(req);
  const address = addressOf(res);
  if (address === '') throw new ServiceError('CANCELLED', 'the client disconnected');
  if (framing(head).body) throw invalidField('content-length', 'must be 0: a WebSocket request has no body');
  for (const [name, value] of handshake) {
    if (req.getHeader(name).toLowerCase() !== value) throw invalidField(name, `must be ${value}`);
  }
  const shown = transport.certificate(res);
  transport.requireCertificate(shown, now);
  requireOrigin(head, transport.isTls, corsOrigins);
  refuseCredentials(head.query);
  const protocol = bearerOf(req.getHeader('sec-websocket-protocol'));
  const offered = protocol && `Bearer ${protocol.slice('bearer.'.length)}`;
  return {
    address,
    transport,
    credentials: {
      authorization: head.headers.get('authorization') ?? offered,
      certificate: fromOtherSite(head, corsOrigins) ? undefined : shown,
    },
    preset: presetOf(channel, head),
    protocol: protocol ?? '',
  };
}

/** Returns whether there are credentials to check. */
export const bears = ({ authorization, certificate }: Credentials): boolean =>
  authorization !== undefined || certificate !== undefined;

/** Returns the subprotocol `bearer.…`, which contains a token; undefined without a token. */
function bearerOf(protocols: string): string | undefined {
  const offered = protocols.split(',').map((name) => name.trim());
  return offered.find((name) => name.startsWith('bearer.'));
}

/**
 * Returns the subscription that the query of a stream path specifies. `since` is not a filter and is not
 * echoed with the filters.
 */
function presetOf(channel: ChannelName | undefined, head: RequestHead): Preset | undefined {
  const raw = decodeQuery(head.query);
  if (channel === undefined) {
    const [unknown] = raw.keys();
    if (unknown !== undefined) throw invalidField(unknown.slice(0, 100).toWellFormed(), 'is not a known parameter');
    return undefined;
  }
  const parsed = parseStream(channels[channel].filters, raw);
  raw.delete('since');
  return { channel, filters: Object.fromEntries(raw), ...parsed };
}

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
