import { abbreviated, number } from '../../ui/format.ts';
import type { Alert } from './question.ts';

/** The sensors that reported the alert, with the number of occurrences from each. */
export function Sensors({ sensors }: { sensors: NonNullable<Alert['sensors']> }) {
  return (
    <span class="row">
      {sensors.map(({ id, name, count }) => (
        <span key={id} title={id}>
          {name === undefined ? <span class="mono">{abbreviated(id)}</span> : <bdi>{name}</bdi>}{' '}
          <span class="quiet">{number(count)}×</span>
        </span>
      ))}
      {sensors.length === 1 && <span class="quiet">Seen by this sensor only.</span>}
    </span>
  );
}
