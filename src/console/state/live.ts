import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Live, type LiveState, openLive } from '../../client/live.ts';
import { type ChannelEvent, type ChannelName, channels } from '../../contract/channels.ts';
import type { ServiceError } from '../../errors.ts';
import { goodToken, me } from './session.ts';

const state = signal<LiveState>({ kind: 'connecting' });
export const liveState: ReadonlySignal<LiveState> = state;

/** Whether who is signed in may read any channel at all: to others the service refuses the connection itself. */
export const mayListen: ReadonlySignal<boolean> = computed(() => {
  const operations = me.value?.operations;
  return Object.values(channels).some(({ operation }) => operations?.has(operation) === true);
});

/** A signal, because what a role may do can change while pages are shown: they subscribe once there is a connection. */
const connection = signal<Live | undefined>(undefined);

/** The one live connection of this tab, from signing in to signing out. */
export function goLive(): () => void {
  const live = openLive({
    baseUrl: location.origin,
    token: goodToken,
    onState: (next) => {
      // Trying again is no news: it is offline until it is live.
      if (next.kind !== 'connecting' || state.value.kind !== 'offline') state.value = next;
    },
  });
  connection.value = live;
  const wake = () => {
    if (!document.hidden) live.wake();
  };
  // Without a network a service on this machine is still reached: only the attempt tells.
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
  /** What was missed is not sent any more. */
  readonly onLagged?: (dropped: number | undefined) => void;
  /** What is committed from now on follows; told again after a lost connection. */
  readonly onSubscribed?: () => void;
  readonly onError?: (error: ServiceError) => void;
  readonly enabled?: boolean;
  /** Begins after this `seq`, that of a snapshot; default: with what comes from now on. */
  readonly since?: number;
}

/** What a channel tells while the component is shown; subscribed anew when the filters or `since` change. */
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
