import type { Client, Stream } from '../../src/client/client.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type Severity, severities } from '../../src/contract/vocabulary.ts';
import { severityText } from './terminal.ts';

/** Alerts as they come over the WebSocket, the latest state of each. */
export interface AlertFeed {
  readonly alerts: ReadonlyMap<string, Alert>;
  /** `2 high, 5 medium, …` */
  summary(): string;
  close(): void;
}

/** Resolves once the subscription is accepted. */
export function watchAlerts(client: Client): Promise<AlertFeed> {
  const alerts = new Map<string, Alert>();
  return new Promise((resolve, reject) => {
    const stream: Stream = client.stream(
      'alerts',
      {},
      {
        onEvent: ({ data }) => alerts.set(data.id, { ...alerts.get(data.id), ...data.attributes }),
        onSubscribed: () =>
          resolve({ alerts, summary: () => summary(alerts.values()), close: () => stream.close() }),
        onError: reject,
        onClose: (code) => reject(new Error(`the service closed the WebSocket with ${code}`)),
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
