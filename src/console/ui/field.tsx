import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import './field.css';

/** A form field: label, input, and a hint or error below it. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** Renders the input with the attributes that tie it to its label and hint. */
  children: (attributes: FieldAttributes) => ComponentChildren;
}) {
  const id = useId();
  const about = `${id}-about`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': error !== undefined, class: 'input' })}
      <p id={about} class={error === undefined ? 'quiet' : 'field-error'}>
        {error ?? hint}
      </p>
    </div>
  );
}

export interface FieldAttributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
  readonly class: string;
}
