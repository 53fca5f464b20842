import type { ComponentChildren, JSX, Ref } from 'preact';
import { useId } from 'preact/hooks';
import { type Params, place, setParams } from '../state/address.ts';
import { Button } from './button.tsx';
import './form.css';

type FormProps = Omit<JSX.FormHTMLAttributes<HTMLFormElement>, 'ref' | 'onSubmit'> & {
  readonly onSubmit: () => void;
};

/** A form with its fields stacked vertically. The browser does not submit it. */
export function Form({ onSubmit, ...attributes }: FormProps) {
  return (
    <form
      class="stack"
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

/** The error of a form that does not concern any of its fields, if there is such an error. */
export function FormError({ children }: { children: ComponentChildren }) {
  if (children === undefined) return null;
  return (
    <p class="field-error" role="alert">
      {children}
    </p>
  );
}

/** The buttons of a form in a dialog: one button submits the form, the other closes the dialog. */
export function FormButtons({
  action,
  kind = 'primary',
  onCancel,
  ...submit
}: {
  /** Label of the submit button. */
  action: string;
  kind?: 'primary' | 'danger';
  hint?: string;
  busy?: boolean;
  disabled?: boolean;
  onCancel: () => void;
}) {
  return (
    <div class="row">
      <Button type="submit" kind={kind} {...submit}>
        {action}
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

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
