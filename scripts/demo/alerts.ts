import { openLive } from '../../src/client/live.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type Severity, severities } from '../../src/contract/vocabulary.ts';
import { severityText } from './terminal.ts';

/** Alerts received over the WebSocket, each in its latest state. */
export interface AlertFeed {
  readonly alerts: ReadonlyMap<string, Alert>;
  /** Returns a summary: `2 high, 5 medium, …`. */
  summary(): string;
  close(): void;
}

/** Starts the feed. Resolves once the subscription is accepted; rejects if the connection fails before. */
export function watchAlerts(baseUrl: string, token: string): Promise<AlertFeed> {
  const alerts = new Map<string, Alert>();
  return new Promise((resolve, reject) => {
    let accepted = false;
    const fail = (error: Error) => {
      live.close();
      reject(error);
    };
    const live = openLive({
      baseUrl,
      token: async () => ({ token, expiresAt: Number.POSITIVE_INFINITY }),
      onState(state) {
        if (state.kind === 'offline' && !accepted) fail(state.reason ?? new Error(`${baseUrl} is not reachable`));
      },
    });
    live.subscribe(
      'alerts',
      {},
      {
        onEvent: ({ data }) => alerts.set(data.id, { ...alerts.get(data.id), ...data.attributes }),
        onSubscribed() {
          accepted = true;
          resolve({ alerts, summary: () => summary(alerts.values()), close: () => live.close() });
        },
        onError: fail,
      },
    );
  });
}

function summary(alerts: Iterable<Alert>): string {
  const counts = new Map<Severity, number>();
  for (const { severity } of alerts) counts.set(severity, (counts.get(severity) ?? 0) + 1);
  const shown = severities.toReversed().filter((severity) => counts.has(severity));
  return shown.map((severity) => `${counts.get(severity)} ${severityText(severity)}`).join(', ') || 'none';
}
