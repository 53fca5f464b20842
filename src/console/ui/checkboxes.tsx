import type { ComponentChildren } from 'preact';
import { FormError } from './form.tsx';
import './checkboxes.css';

/** A field for several of a few values, as a group of checkboxes. */
export function Checkboxes<V extends string>({
  legend,
  values,
  labelOf = (value) => value,
  value: chosen,
  error,
  onValue,
}: {
  legend: string;
  /** The values offered. */
  values: readonly V[];
  labelOf?: (value: V) => ComponentChildren;
  /** The values chosen. */
  value: readonly string[];
  error?: string | undefined;
  /** Called with the values chosen, in the order in which they are offered. */
  onValue: (value: V[]) => void;
}) {
  return (
    <fieldset class="checkboxes">
      <legend>{legend}</legend>
      {values.map((value) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              onValue(values.filter((one) => (one === value ? checked : chosen.includes(one))));
            }}
          />
          <span>{labelOf(value)}</span>
        </label>
      ))}
      <FormError>{error}</FormError>
    </fieldset>
  );
}
