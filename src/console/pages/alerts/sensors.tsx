import { abbreviated, number } from '../../ui/format.ts';
import type { Alert } from './question.ts';

/** The sensors that an alert rests on, each with its share of the occurrences. */
export function Sensors({ sensors }: { sensors: NonNullable<Alert['sensors']> }) {
  return (
    <span class="row">
      {sensors.map(({ id, name, count }) => (
        <span key={id} title={id}>
          {name === undefined ? <span class="mono">{abbreviated(id)}</span> : <bdi>{name}</bdi>}{' '}
          <span class="quiet">{number(count)}×</span>
        </span>
      ))}
      {sensors.length === 1 && <span class="quiet">No other sensor confirms it.</span>}
    </span>
  );
}
