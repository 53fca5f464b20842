import type { ComponentChildren } from 'preact';
import { number } from '../../ui/format.ts';
import './counted-values.css';

/** Values with their counts, in two columns if they fit. */
export function CountedValues({
  values,
  shown,
}: {
  values: readonly { readonly value: string; readonly count: number }[];
  shown: (value: string) => ComponentChildren;
}) {
  return (
    <ul class="asset-values">
      {values.map(({ value, count }) => (
        <li key={value}>
          {shown(value)}
          <span class="quiet number">{number(count)}</span>
        </li>
      ))}
    </ul>
  );
}
