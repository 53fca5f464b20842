import { zone } from '../state/preferences.ts';
import { Button } from './button.tsx';
import { zoneName } from './format.ts';
import { shortZone } from './zone-name.ts';

/** Shows the time zone of the page and switches to the other time zone. */
export function ZoneSwitch() {
  const isUtc = zone.value === 'utc';
  const name = shortZone(zoneName(Date.now()));
  return (
    <Button
      kind="plain"
      aria-label={`Time zone: ${name}`}
      title={isUtc ? 'Times are in UTC. Switch to local time' : `Times are local (${name}). Switch to UTC`}
      onClick={() => {
        zone.value = isUtc ? 'local' : 'utc';
      }}
    >
      {name}
    </Button>
  );
}
