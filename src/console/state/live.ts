import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Live, type LiveState, openLive } from '../../client/live.ts';
import { type ChannelEvent, type ChannelName, channels } from '../../contract/channels.ts';
import type { ServiceError } from '../../errors.ts';
import { goodToken, me } from './session.ts';

const state = signal<LiveState>({ kind: 'connecting' });
export const liveState: ReadonlySignal<LiveState> = state;

/** Whether the user may subscribe to any channel. The service refuses connections of other users. */
export const mayListen: ReadonlySignal<boolean> = computed(() => {
  const operations = me.value?.operations;
  return Object.values(channels).some(({ operation }) => operations?.has(operation) === true);
});

/**
 * A signal, because permissions can change while pages are shown. Pages subscribe once there is a connection.
 */
const connection = signal<Live | undefined>(undefined);

/** Opens the one live connection of this tab, from sign-in to sign-out. */
export function goLive(): () => void {
  const live = openLive({
    baseUrl: location.origin,
    token: goodToken,
    onState: (next) => {
      // Keep showing "offline" while retrying.
      if (next.kind !== 'connecting' || state.value.kind !== 'offline') state.value = next;
    },
  });
  connection.value = live;
  const wake = () => {
    if (!document.hidden) live.wake();
  };
  // A service on this machine is reachable without a network, so only an attempt shows whether it is reachable.
  const reconnect = () => live.reconnect();
  document.addEventListener('visibilitychange', wake);
  addEventListener('offline', reconnect);
  addEventListener('online', reconnect);
  return () => {
    document.removeEventListener('visibilitychange', wake);
    removeEventListener('offline', reconnect);
    removeEventListener('online', reconnect);
    live.close();
    connection.value = undefined;
  };
}

export interface ChannelOptions<C extends ChannelName> {
  readonly onEvent: (event: ChannelEvent<C>) => void;
  /** Called when events were missed and will not be sent. */
  readonly onLagged?: (dropped: number | undefined) => void;
  /** Called when the subscription has started: later events will arrive. Called again after each reconnect. */
  readonly onSubscribed?: () => void;
  readonly onError?: (error: ServiceError) => void;
  readonly enabled?: boolean;
  /** The `seq` of a snapshot, after which the subscription starts. Default: starts with the next event. */
  readonly since?: number;
}

/** Subscribes to a channel while the component is mounted, and again when the filters or `since` change. */
export function useChannel<C extends ChannelName>(
  channel: C,
  filters: Readonly<Record<string, unknown>>,
  { enabled = true, since, ...handlers }: ChannelOptions<C>,
): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const asked = JSON.stringify(filters);
  const live = connection.value;
  useEffect(() => {
    if (!enabled || live === undefined) return;
    const subscription = live.subscribe(
      channel,
      JSON.parse(asked),
      {
        onEvent: (event) => latest.current.onEvent(event),
        onLagged: (dropped) => latest.current.onLagged?.(dropped),
        onSubscribed: () => latest.current.onSubscribed?.(),
        onError: (error) => latest.current.onError?.(error),
      },
      since === undefined ? {} : { since },
    );
    return () => subscription.close();
  }, [live, channel, asked, enabled, since]);
}
