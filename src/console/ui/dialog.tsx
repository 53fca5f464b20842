import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import './dialog.css';

/** A modal dialog. The browser keeps the focus inside. */
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
  const closed = useRef(onClose);
  closed.current = onClose;
  // Opened in a layout effect, so that the next key press already reaches the dialog.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const close = () => closed.current();
    shown?.addEventListener('close', close);
    shown?.showModal();
    return () => {
      // Closing before removal returns the focus to its previous element.
      shown?.removeEventListener('close', close);
      shown?.close();
    };
  }, []);
  useKeys(`Dialog: ${title}`, {});
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onClick={(event) => {
        // The click was on the backdrop, because the body covers the dialog itself.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
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
