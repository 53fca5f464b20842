import type { JSX } from 'preact';

export interface SelectProps<V extends string>
  extends Omit<JSX.SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange' | 'class' | 'ref'> {
  readonly options: readonly { readonly value: V; readonly title: string }[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

/** A select box of a few values; accepts the attributes of a `Field`. */
export function Select<V extends string>({ options, value, onChange, ...attributes }: SelectProps<V>) {
  return (
    <select {...attributes} class="input" value={value} onChange={(event) => onChange(event.currentTarget.value as V)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.title}
        </option>
      ))}
    </select>
  );
}
