import { type ChannelName, channels } from '../../contract/channels.ts';
import { decodeQuery, parseStream } from '../../contract/query.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { addressOf } from '../connections.ts';
import type { Credentials } from '../endpoint.ts';
import { copyHead, framing, type RequestHead } from '../request.ts';
import type { SocketFront } from '../server.ts';
import { requireOrigin } from '../socket-origin.ts';
import { fromOtherSite, type Transport } from '../tls-transport.ts';
import { refuseCredentials } from '../url-credentials.ts';
import type { HttpRequest, HttpResponse } from '../uws.ts';
import type { Preset } from './subscriptions.ts';

/** A request for a WebSocket that can be met. */
export interface Upgrade {
  /** Where it came from: a socket that is closed does not tell any more. */
  readonly address: string;
  readonly transport: Transport;
  /** Not checked yet. */
  readonly credentials: Credentials;
  /** What the path and its query subscribe to. */
  readonly preset: Preset | undefined;
  /** The subprotocol to be answered; empty for none. */
  readonly protocol: string;
}

/**
 * Headers that a handshake must have (RFC 6455, section 4.2.1). uWebSockets.js only looks for a key; a proxy that knows
 * the others would take what follows for HTTP.
 */
const handshake = [
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
] as const;

/**
 * Reads a request for a WebSocket, at `now` (epoch milliseconds).
 *
 * @param channel - what the path is the stream of
 * @throws INVALID_REQUEST, FORBIDDEN for a page of another site, UNAUTHENTICATED without a certificate where one is
 * required
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
  if (address === '') throw new ServiceError('CANCELLED', 'the client went away');
  if (framing(head).body)
    throw invalidField('content-length', 'must be 0: a WebSocket begins without a body');
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

/** Whether there is anything to be checked. */
export const bears = ({ authorization, certificate }: Credentials): boolean =>
  authorization !== undefined || certificate !== undefined;

/** The subprotocol that carries a token. */
function bearerOf(protocols: string): string | undefined {
  const offered = protocols.split(',').map((name) => name.trim());
  return offered.find((name) => name.startsWith('bearer.'));
}

/** What the query of a stream path subscribes to. `since` is no filter and is not echoed as one. */
function presetOf(channel: ChannelName | undefined, head: RequestHead): Preset | undefined {
  const raw = decodeQuery(head.query);
  if (channel === undefined) {
    const [unknown] = raw.keys();
    if (unknown !== undefined)
      throw invalidField(unknown.slice(0, 100).toWellFormed(), 'is not a known parameter');
    return undefined;
  }
  const parsed = parseStream(channels[channel].filters, raw);
  raw.delete('since');
  return { channel, filters: Object.fromEntries(raw), ...parsed };
}
