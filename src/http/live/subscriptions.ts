import { type ChannelName, type ClientMessage, channels, type ServerMessage } from '../../contract/channels.ts';
import { type ParsedFilter, parseFilters, shorten } from '../../contract/query.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { errorMessage } from '../error-reply.ts';
import type { Hub, Reader } from './hub.ts';

/**
 * A function that returns whether the credentials may open a socket of this path (without an argument), or
 * read a channel.
 */
export type MayRead = (channel?: ChannelName) => boolean;

/** The automatic subscription of a `…/stream` path. */
export interface Preset {
  readonly channel: ChannelName;
  readonly filter: ParsedFilter;
  readonly since?: number;
  /** The filters as the client wrote them, which the server echoes. */
  readonly filters: Readonly<Record<string, unknown>>;
}

interface SubscriptionParts {
  readonly hub: Hub;
  readonly now: () => number;
  readonly limitReached: (limit: LimitName) => void;
}

/** Adds and removes the subscriptions of one socket. The hub owns the subscriptions. */
export class Subscriptions {
  readonly #reader: Reader;
  readonly #parts: SubscriptionParts;

  constructor(reader: Reader, parts: SubscriptionParts) {
    this.#reader = reader;
    this.#parts = parts;
  }

  /**
   * Returns whether the credentials may open the socket, and may read the channel of `preset`, or any channel if
   * there is no preset.
   */
  static areOpenTo(mayRead: MayRead, preset: Preset | undefined): boolean {
    return mayRead() && (preset === undefined ? channelNames.some(mayRead) : mayRead(preset.channel));
  }

  get count(): number {
    return this.#parts.hub.subscriptionCount(this.#reader);
  }

  subscribe(message: Extract<ClientMessage, { type: 'subscribe' }>, mayRead: MayRead): void {
    const { channel, filters = {}, since, id = channel } = message;
    try {
      const filter = parseFilters(channels[channel].filters, filters);
      this.begin({ id, channel, filter, filters, ...(since === undefined ? {} : { since }) }, mayRead);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#refuse(error, id);
    }
  }

  /** Begins a subscription. Throws FORBIDDEN, CONFLICT, OVERLOADED and INVALID_REQUEST. */
  begin({ id, channel: name, filter, filters, since }: Preset & { readonly id: string }, mayRead: MayRead): void {
    const channel = this.#parts.hub.channel(name);
    if (!mayRead(name)) throw forbidden(name);
    if (this.#parts.hub.has(this.#reader, id))
      throw new ServiceError('CONFLICT', `a subscription ${shorten(id)} already exists`, { field: 'id' });
    if (this.#parts.hub.subscriptions >= limits.maxSubscriptions) {
      this.#parts.limitReached('maxSubscriptions');
      throw new ServiceError('OVERLOADED', `subscription limit reached (${limits.maxSubscriptions})`);
    }
    if (since !== undefined && since > channel.head())
      throw invalidField('since', `is beyond the newest sequence, ${channel.head()}`);
    const matcher = channel.compile(filter);
    const seq = since ?? this.#parts.hub.published(name);
    this.#send({ type: 'subscribed', id, channel: name, filters, seq });
    this.#parts.hub.subscribe(this.#reader, id, name, matcher, since);
  }

  unsubscribe({ id, channel }: Extract<ClientMessage, { type: 'unsubscribe' }>): void {
    const all = channel === undefined ? undefined : this.#parts.hub.idsOf(this.#reader, channel);
    const ids = id === undefined ? (all ?? []) : all === undefined || all.includes(id) ? [id] : [];
    if (ids.filter((one) => this.#end(one)).length > 0) return;
    this.#refuse(
      new ServiceError('NOT_FOUND', 'there is no such subscription', {
        field: id === undefined ? 'channel' : 'id',
      }),
      id,
    );
  }

  /**
   * Ends subscriptions to channels that the caller may no longer read, and sends an error for each. Other
   * subscriptions continue.
   */
  withdraw(mayRead: MayRead): void {
    for (const name of channelNames) {
      if (mayRead(name)) continue;
      for (const id of this.#parts.hub.idsOf(this.#reader, name)) {
        this.#refuse(forbidden(name), id);
        this.#end(id);
      }
    }
  }

  #end(id: string): boolean {
    const channel = this.#parts.hub.unsubscribe(this.#reader, id);
    if (channel !== undefined) this.#send({ type: 'unsubscribed', id, channel });
    return channel !== undefined;
  }

  #send(message: ServerMessage): void {
    this.#reader.send(JSON.stringify(message));
  }

  /** Reports an error; the socket stays open. */
  #refuse(error: ServiceError, id: string | undefined): void {
    this.#reader.send(errorMessage(error, this.#parts.now(), id));
  }
}

const channelNames = Object.keys(channels) as ChannelName[];

const forbidden = (channel: ChannelName) => new ServiceError('FORBIDDEN', `this role cannot read ${channel}`);
