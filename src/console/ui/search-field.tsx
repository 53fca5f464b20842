import { type Params, place, setParams } from '../state/address.ts';
import './field.css';

/** A search field for the `q` of the URL. @param also - parameters to set with each change */
export function SearchField({ label, also }: { label: string; also?: Params }) {
  return (
    <input
      type="search"
      class="input input-search"
      aria-label={label}
      placeholder={label}
      value={place.value.params.get('q') ?? ''}
      onInput={(event) => setParams({ ...also, q: event.currentTarget.value || undefined }, { replace: true })}
    />
  );
}
