import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import './dialog.css';

/** Shown above everything until it is closed; the browser keeps the focus in it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);
  useKeys(`Dialog: ${title}`, {});
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => {
        // Beside the dialog, which its body covers.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-body">
        <div class="row spread">
          <h2 id={heading}>{title}</h2>
          <Button kind="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
            ✕
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
