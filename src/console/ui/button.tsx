import type { ComponentChildren, JSX } from 'preact';
import './button.css';

interface ButtonProps extends Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'size' | 'ref'> {
  /** `primary`: the main action; `danger`: an action with severe effects; `plain`: without a frame. */
  readonly kind?: 'normal' | 'primary' | 'danger' | 'plain';
  /** The keyboard shortcut of the action. */
  readonly hint?: string;
  readonly busy?: boolean;
  readonly children: ComponentChildren;
}

export function Button({ kind = 'normal', hint, busy = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={`button button-${kind}`} aria-busy={busy} disabled={rest.disabled || busy}>
      {children}
      {hint !== undefined && <kbd>{hint}</kbd>}
    </button>
  );
}

/** A group of buttons of which one is selected. */
export function Choice<V extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { value: V; title: string }[];
  value: V;
  onChange: (value: V) => void;
}) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.title}
        </button>
      ))}
    </fieldset>
  );
}
