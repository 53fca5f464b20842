import type { ComponentChildren, JSX, Ref } from 'preact';
import { FormError } from './form.tsx';
import './options.css';

interface OptionsProps extends Omit<JSX.FieldsetHTMLAttributes<HTMLFieldSetElement>, 'ref'> {
  readonly legend: ComponentChildren;
  readonly error?: string | undefined;
  readonly group?: Ref<HTMLFieldSetElement>;
  /** Labels, each with its checkbox or radio button. */
  readonly children: ComponentChildren;
}

/** A group of checkboxes or radio buttons, one per line. */
export function Options({ legend, error, group, children, ...rest }: OptionsProps) {
  return (
    <fieldset {...rest} {...(group && { ref: group })} class="options">
      <legend>{legend}</legend>
      {children}
      <FormError>{error}</FormError>
    </fieldset>
  );
}
