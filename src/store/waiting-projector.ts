import type { FromProjector, ProjectorPort, Sequences, ToProjector } from '../projections/delta.ts';

/** A projector that processes nothing, for commands that change the store and end. */
export const noProjector = (_settings: unknown, receive: (message: FromProjector) => void): ProjectorPort => ({
  send: ({ kind }) => {
    if (kind === 'finish') receive({ kind: 'finished' });
  },
  close: async () => undefined,
});

/** Starts a projector with the first event, so that an empty store has no projector. */
export function waitingProjector(
  open: (receive: (message: FromProjector) => void) => ProjectorPort,
  receive: (message: FromProjector) => void,
): ProjectorPort {
  let port = noProjector(undefined, receive);
  let isOpen = false;
  let started: ToProjector | undefined;
  return {
    send: (message) => {
      if (message.kind === 'start') started = message;
      const end = message.kind === 'start' ? message.from : message.kind === 'advance' ? message.to : undefined;
      if (!isOpen && started !== undefined && end !== undefined && hasEvents(end)) {
        isOpen = true;
        port = open(receive);
        if (message !== started) port.send(started);
      }
      port.send(message);
    },
    close: () => port.close(),
  };
}

const hasEvents = ({ network, dns }: Sequences): boolean => network > 1 || dns > 1;
