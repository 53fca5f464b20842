import type { ComponentChildren, JSX } from 'preact';
import { Button } from './button.tsx';

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
