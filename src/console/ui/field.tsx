import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import './field.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

/** A form field: label, input, and a hint or error below it. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & {
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

interface FieldAttributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
  readonly class: string;
}

type TextProps<Attributes> = FieldProps &
  Omit<Attributes, 'label' | 'value' | 'ref' | 'onInput'> & {
    readonly value: string;
    readonly onValue: (value: string) => void;
  };

/** A field with a text input; accepts the attributes of the input. */
export function TextField({
  label,
  hint,
  error,
  onValue,
  ...input
}: TextProps<JSX.InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => <input {...attributes} {...input} onInput={(event) => onValue(event.currentTarget.value)} />}
    </Field>
  );
}

/** A field with a text area; accepts the attributes of the text area. */
export function TextArea({
  label,
  hint,
  error,
  onValue,
  ...area
}: TextProps<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => <textarea {...attributes} {...area} onInput={(event) => onValue(event.currentTarget.value)} />}
    </Field>
  );
}

/** A field with a select box; accepts the attributes of the select box. */
export function SelectField<V extends string>({ label, hint, error, ...select }: FieldProps & SelectProps<V>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => <Select {...attributes} {...select} />}
    </Field>
  );
}

interface SelectProps<V extends string>
  extends Omit<JSX.SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange' | 'class' | 'ref'> {
  readonly options: readonly { readonly value: V; readonly title: string }[];
  readonly value: V;
  readonly onValue: (value: V) => void;
}

/** A select box of a few values; accepts the attributes of a `Field`. */
function Select<V extends string>({ options, value, onValue, ...attributes }: SelectProps<V>) {
  return (
    <select {...attributes} class="input" value={value} onChange={(event) => onValue(event.currentTarget.value as V)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.title}
        </option>
      ))}
    </select>
  );
}
