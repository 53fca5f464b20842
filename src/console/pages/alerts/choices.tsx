import { useRef } from 'preact/hooks';
import { Options } from '../../ui/form.tsx';

/**
 * Radio buttons with digit keys, for dialogs used by keyboard. Enter submits the surrounding form.
 */
export function Choices<V extends string>({
  label,
  options,
  value,
  error,
  onChange,
}: {
  label: string;
  options: readonly { readonly value: V; readonly title: string; readonly about?: string }[];
  /** The chosen option; undefined until an option is chosen. */
  value: V | undefined;
  error?: string | undefined;
  onChange: (value: V) => void;
}) {
  const group = useRef<HTMLFieldSetElement>(null);
  return (
    <Options
      group={group}
      legend={label}
      error={error}
      onKeyDown={(event) => {
        const option = options[Number(event.key) - 1];
        if (option === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onChange(option.value);
        group.current?.querySelectorAll('input')[options.indexOf(option)]?.focus();
      }}
    >
      {options.map((option, index) => (
        <label key={option.value}>
          <input
            type="radio"
            name={label}
            autofocus={option.value === value || (value === undefined && index === 0)}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.title}</span>
          {option.about !== undefined && <span class="quiet clip">{option.about}</span>}
          <kbd>{index + 1}</kbd>
        </label>
      ))}
    </Options>
  );
}
