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
  /** Type of the resource that its events carry. */
  readonly resource: ResourceType;
  /**
   * Whoever may do this may subscribe: an `OperationId`, which the table of routes is the one to say. It is the stream of
   * the channel, where it has one.
   */
  readonly operation: string;
  /** Filters, as query parameters of the stream path where it has one; `parseFilters` reads them from a subscription. */
  readonly filters: TObject;
}

/** What can be subscribed to. */
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

/** Why the service ends a socket (RFC 6455, section 7.4.2: 4000–4999 are the application's). */
export const closeCodes = {
  goingAway: 1001,
  badMessage: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  authTimeout: 4408,
  tooMany: 4429,
} as const;

const channel = oneOf(channelNames, { description: 'Which channel.' });
const subscriptionId = text('Names the subscription.', { minLength: 1, maxLength: 100 });
const kind = <const K extends string>(name: K) => Type.Literal(name, { description: 'Kind of message.' });

/** Messages from client to service, by `type`. */
export const clientMessages = {
  auth: shape('AuthMessage', {
    type: kind('auth'),
    token: text('Bearer token; renews the credentials in place.', { minLength: 1, maxLength: 8192 }),
  }),
  subscribe: shape('SubscribeMessage', {
    type: kind('subscribe'),
    channel,
    filters: optional(
      anyObject("Query parameters of the channel's stream: a value or an array of values a name."),
    ),
    since: optional(count('Replay what was committed after this `seq` before going live.')),
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
      'What is committed after this sequence follows, as far as it matches: `since`, or where the channel was. It is the `since` to begin with again where no event came.',
    ),
  }),
  unsubscribed: shape('UnsubscribedMessage', { type: kind('unsubscribed'), id: subscriptionId, channel }),
  event: shape('EventMessage', {
    type: kind('event'),
    channel,
    id: subscriptionId,
    seq: ordinal("The channel's commit sequence; grows, over restarts too."),
    data: anyObject('The resource: {id, type, attributes}.'),
    timestamp: timestamp('When it was sent.'),
  }),
  lagged: shape('LaggedMessage', {
    type: kind('lagged'),
    channel,
    id: subscriptionId,
    dropped: count(
      'Events that were skipped or are no longer stored. Of `topology`, updates that were too large as well: what follows adds up to a graph only with a new one from GET /api/v1/topology.',
    ),
  }),
  pong: shape('PongMessage', { type: kind('pong') }),
  error: shape('ErrorMessage', {
    type: kind('error'),
    id: optional(text('The subscription that it is about.')),
    error,
    timestamp: timestamp('When it was sent.'),
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
