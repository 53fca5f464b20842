import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { ErrorEnvelope } from './envelopes.ts';
import {
  alertStreamQuery,
  dnsEventStreamQuery,
  networkEventStreamQuery,
  scanSubscription,
  topologyStreamQuery,
} from './parameters.ts';
import type { ResourceType, resourceTypes } from './resource-types.ts';
import { oneOf } from './resources/common.ts';
import { anyObject, count, optional, ordinal, shape, text, timestamp } from './resources/fields.ts';

interface Channel {
  /** Type of the resource in the events of the channel. */
  readonly resource: ResourceType;
  /**
   * Operation that a caller must be allowed to call in order to subscribe: the stream operation of the channel, if the
   * channel has a stream. Typed as string because `OperationId` is derived from the table of routes, which imports this
   * file.
   */
  readonly operation: string;
  /**
   * Filters, which are the query parameters of the stream path if there is one; `parseFilters` reads them
   * from a subscription.
   */
  readonly filters: TObject;
}

/** Channels that clients can subscribe to. */
export const channels = {
  'events.network': {
    resource: 'network_event',
    operation: 'streamNetworkEvents',
    filters: networkEventStreamQuery,
  },
  'events.dns': { resource: 'dns_event', operation: 'streamDnsEvents', filters: dnsEventStreamQuery },
  alerts: { resource: 'alert', operation: 'streamAlerts', filters: alertStreamQuery },
  topology: { resource: 'topology_update', operation: 'streamTopology', filters: topologyStreamQuery },
  discovery: { resource: 'scan', operation: 'getScanStatus', filters: scanSubscription },
} as const satisfies Record<string, Channel>;

export type ChannelName = keyof typeof channels;
const channelNames = Object.keys(channels) as [ChannelName, ...ChannelName[]];

/** Close codes of WebSocket connections (RFC 6455, section 7.4.2: 4000–4999 are for applications). */
export const closeCodes = {
  goingAway: 1001,
  badMessage: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  authTimeout: 4408,
  tooMany: 4429,
} as const;

const channel = oneOf(channelNames, 'Name of the channel.');
const subscriptionId = text('Identifier of the subscription.', { minLength: 1, maxLength: 100 });
const kind = <const K extends string>(name: K) => Type.Literal(name, { description: 'Type of message.' });

/** Messages from client to service, by `type`. */
export const clientMessages = {
  auth: shape('AuthMessage', {
    type: kind('auth'),
    token: text('Bearer token, which replaces the credentials of the connection.', {
      minLength: 1,
      maxLength: 8192,
    }),
  }),
  subscribe: shape('SubscribeMessage', {
    type: kind('subscribe'),
    channel,
    filters: optional(
      anyObject('Filters by name, as in the query parameters of the stream: a value or an array of values each.'),
    ),
    since: optional(count('Commit sequence after which to replay events before live events.')),
    id: optional(subscriptionId),
  }),
  unsubscribe: shape('UnsubscribeMessage', {
    type: kind('unsubscribe'),
    channel: optional(channel),
    id: optional(subscriptionId),
  }),
  ping: shape('PingMessage', { type: kind('ping') }),
} as const satisfies Record<string, TSchema>;

export type ClientMessage = {
  [K in keyof typeof clientMessages]: Static<(typeof clientMessages)[K]>;
}[keyof typeof clientMessages];

const { error } = ErrorEnvelope.properties;

/** Messages from service to client, by `type`. */
export const serverMessages = {
  subscribed: shape('SubscribedMessage', {
    type: kind('subscribed'),
    id: subscriptionId,
    channel,
    filters: anyObject('The filters in effect.'),
    seq: count(
      'Commit sequence after which matching events follow: `since`, or the current sequence of the channel. If no event arrives before a reconnect, use it as `since`.',
    ),
  }),
  unsubscribed: shape('UnsubscribedMessage', { type: kind('unsubscribed'), id: subscriptionId, channel }),
  event: shape('EventMessage', {
    type: kind('event'),
    channel,
    id: subscriptionId,
    seq: ordinal('Commit sequence of the channel, which increases also across restarts.'),
    data: anyObject('The resource: {id, type, attributes}.'),
    timestamp: timestamp('Time at which the message was sent.'),
  }),
  lagged: shape('LaggedMessage', {
    type: kind('lagged'),
    channel,
    id: subscriptionId,
    dropped: count(
      'Number of events that were skipped or are no longer stored; for `topology`, also updates that were too large. Further topology updates then require a new graph from GET /api/v1/topology.',
    ),
  }),
  pong: shape('PongMessage', { type: kind('pong') }),
  error: shape('ErrorMessage', {
    type: kind('error'),
    id: optional(text('Identifier of the subscription concerned.')),
    error,
    timestamp: timestamp('Time at which the message was sent.'),
  }),
} as const satisfies Record<string, TSchema>;

type EventMessage = Static<typeof serverMessages.event>;

/** An event of one channel, with the type of its resource. */
export type ChannelEvent<C extends ChannelName> = Omit<EventMessage, 'channel' | 'data'> & {
  readonly channel: C;
  readonly data: {
    readonly id: string;
    readonly type: (typeof channels)[C]['resource'];
    readonly attributes: Static<(typeof resourceTypes)[(typeof channels)[C]['resource']]>;
  };
};

type OtherServerMessage = {
  [K in Exclude<keyof typeof serverMessages, 'event'>]: Static<(typeof serverMessages)[K]>;
};
export type ServerMessage =
  | OtherServerMessage[keyof OtherServerMessage]
  | { [C in ChannelName]: ChannelEvent<C> }[ChannelName];
