import { zone } from '../state/preferences.ts';
import { Button } from './button.tsx';
import { zoneName } from './format.ts';
import { shortZone } from './zone-name.ts';

/** In which zone the times of the page are, and the way to the other one. */
export function ZoneSwitch() {
  const isUtc = zone.value === 'utc';
  const name = shortZone(zoneName(Date.now()));
  return (
    <Button
      kind="plain"
      aria-label={`Times are in ${name}`}
      title={
        isUtc ? 'Times are in UTC. Show them in local time' : `Times are local, ${name}. Show them in UTC`
      }
      onClick={() => {
        zone.value = isUtc ? 'local' : 'utc';
      }}
    >
      {name}
    </Button>
  );
}
